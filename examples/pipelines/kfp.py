"""A pipeline of Kubeflow Pipelines (kfp 2) with a distributed step: python kfp.py writes digits.yaml for the UI or `kfp run create`.

The account of the pipeline's pods needs the rights of account.yaml: there, name it (pipeline-runner) as the binding's subject.
"""

from kfp import compiler, dsl


@dsl.container_component
def train(image: str, workers: int, command: str, run: str):
    return dsl.ContainerSpec(
        image="muster/operator:0.1.0",
        command=["muster", "step", "pytorch"],
        args=["--image", image, "--num_worker", workers, "--gpu", "1", "--stuck-after", "30m", "--name", run, "--command", command])


@dsl.pipeline(name="digits")
def digits(image: str = "train:1", workers: int = 4):
    step = train(image=image, workers=workers, command='echo "rank $RANK"; python3 /app/train.py', run="digits-train")
    step.set_caching_options(False)


if __name__ == "__main__":
    compiler.Compiler().compile(digits, "digits.yaml")
