"""Can: robosuite's PickPlaceCan as in robomimic."""
