"""The calls of the library, one module per topic. `milepost` and its public modules export them."""
