"""For pytest: a failing example is not made smaller. The verdict is the same, the time is not."""

from hypothesis import Phase, settings

settings.register_profile("first", phases=(Phase.explicit, Phase.generate))
settings.load_profile("first")  # what the tests' own profile is made of
