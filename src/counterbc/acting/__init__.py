"""Trained policies at work: acting, evaluation, export."""
