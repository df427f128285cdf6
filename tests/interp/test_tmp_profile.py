from hypothesis import settings
def test_p():
    print("MAX", settings.default.max_examples)
