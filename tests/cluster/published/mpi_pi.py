"""Pi, by as many ranks as there are: each adds up its share of the area."""

from mpi4py import MPI

STEPS = 1_000_000

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
width = 1 / STEPS
area = sum(4 / (1 + ((step + 0.5) * width) ** 2) for step in range(rank, STEPS, size)) * width
total = world.reduce(area)
hosts = world.gather(MPI.Get_processor_name())
if rank == 0:
    print(f"pi is {total:.8f}, by {size} ranks on {len(set(hosts))} hosts", flush=True)
