"""python -m counterbc"""

from counterbc.cli import run

if __name__ == "__main__":
    run()
