"""How is the code laid out, in numbers?"""
