"""Ends in the way that its argument names."""
import atexit
import os
import signal
import sys

atexit.register(print, "atexit ran")


def fail():
    raise ValueError("on purpose")


def main(how):
    if how == "exception":
        fail()
    elif how == "chained":
        try:
            fail()
        except ValueError as error:
            raise KeyError("again") from error
    elif how == "interrupted":
        raise KeyboardInterrupt
    elif how == "excepthook":
        sys.excepthook = lambda kind, error, traceback: print("hook", kind, error, traceback.tb_frame.f_code.co_name)
        fail()
    elif how == "bad excepthook":
        sys.excepthook = lambda *_: 1 / 0
        fail()
    elif how == "status":
        sys.exit(7)
    elif how == "message":
        sys.exit("a message")
    elif how == "killed":
        os.kill(os.getpid(), signal.SIGTERM)
    elif how == "at once":
        os._exit(3)
    elif how == "spawn":
        import multiprocessing

        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print(pool.map(square, [2, 3]), __spec__)
            pool.close()
            pool.join()


def square(number):
    return number * number


if __name__ == "__main__":
    main(sys.argv[1])
