"""Programs that run in the network of a run's servers: they are told what to do on their input."""
