# Options that would have no effect are refused.
weir gen imagenet d --dtype f32
