"""What benchmarks/ruggieri2019.py is made of."""
