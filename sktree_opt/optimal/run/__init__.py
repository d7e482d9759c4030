"""The only room that knows engines: which one answers, how far it gets, what a stop leaves."""
