"""Which files judge a change and which are judged; the tree that the verdict is taken on."""
