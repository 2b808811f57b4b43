"""Many calls on the workers of a Dask cluster, which may join, leave and die at any time.

What is guaranteed:

- Every call is made, and its result is yielded exactly once, whichever workers die. Only a call that kills its workers
  even when it runs alone in the cluster is given up, and then it is reported as such.
- A result is the same as on this machine: a worker whose versions differ from ours is refused, whenever it joins.
- What many calls share, such as a dataset, is sent from this process once. It is a task of its own, so the scheduler
  can have it made again if all workers that hold it die; scattered data would be lost with them.
- The scheduler sees nothing but bytes and functions of Dask and of the standard library, so it need not have this
  package.
- A cluster that no worker joins within `JOIN_SECONDS` is refused with a StudyError before anything is written.
- If the scheduler is lost, or there is no worker for `PATIENCE` seconds, a ConnectionError says so; nothing waits
  forever.
- Whatever ends the run, calls under way are cancelled, and a cluster or a client that was started here is closed.
"""

from __future__ import annotations

import asyncio
import logging
import operator
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from queue import Empty, SimpleQueue
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from joblib import effective_n_jobs

from hietan._io import temporary_directory
from hietan._runtime.optional import import_optional
from hietan.evaluation.study.fingerprint import versions
from hietan.exceptions import StudyError

CONNECT_SECONDS = 10.0  # how long a scheduler may take to answer
JOIN_SECONDS = 10.0  # how long the first worker may take to join
PATIENCE = 60.0  # how long a cluster that had workers may have none
LOOK_SECONDS = 2.0  # how often its workers are counted
CALLS_PER_THREAD = 3  # submitted at a time: one runs, and the others are ready when it ends


@dataclass(frozen=True)
class Shared:
    """An argument of many successive calls. One of each kind is kept; one with another name replaces it."""

    kind: str
    name: str
    value: Any


def _distributed(module: str = "") -> Any:
    return import_optional(f"distributed{module}", extra="dask", purpose='backend="dask"')


# ---------------------------------------------------------------------------------------------- connecting


@contextmanager
def cluster_client(scheduler: str | None, n_jobs: int | None) -> Iterator[Any]:
    """A Dask client: one for this scheduler, or the active one, or else one for a new cluster of `n_jobs` processes.

    What was started or connected here is closed at the end.
    """
    distributed = _distributed()
    with ExitStack() as stack:
        if scheduler is not None:
            _check_scheduler_answers(scheduler)
            options = {"timeout": CONNECT_SECONDS, "set_as_default": False}
            yield stack.enter_context(distributed.Client(scheduler, **options))
            return
        try:
            client = distributed.get_client()
        except ValueError:
            client = stack.enter_context(_own_client(n_jobs))
        if client.asynchronous:
            raise StudyError("the active Dask client is asynchronous; a study needs a synchronous one")
        yield client


@contextmanager
def _own_client(n_jobs: int | None) -> Iterator[Any]:
    config = import_module("dask").config
    with (
        temporary_directory(config.get("temporary-directory", None)) as folder,
        config.set({"temporary-directory": str(folder)}),  # Dask would leave files behind
        _local_cluster(n_jobs) as cluster,
        _distributed().Client(cluster, set_as_default=False) as client,
    ):
        client.run(_ignore_interrupts)
        try:
            yield client
        except BaseException:
            _kill_workers(cluster)
            raise
        else:
            with suppress(Exception):
                client.run(logging.disable)  # otherwise, workers log that the scheduler closes before they do


def _kill_workers(cluster: Any) -> None:
    """End the workers of our own cluster at once: nobody wants their results, and they may be in a call that hangs."""
    for nanny in list(cluster.workers.values()):
        with suppress(Exception):
            nanny.close_gracefully()  # from now on, it starts no other worker
            os.kill(nanny.pid, signal.SIGKILL)


def _local_cluster(n_jobs: int | None) -> Any:
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": "127.0.0.1:0"}
    try:
        return _distributed().LocalCluster(n_workers=effective_n_jobs(n_jobs), **options)
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        raise StudyError(
            f'a local cluster cannot be started ({reason}); a script must start it under if __name__ == "__main__":'
        ) from error


def _ignore_interrupts() -> None:
    """Ctrl-C in a terminal reaches all processes, but our workers are closed by us and should not print tracebacks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _check_scheduler_answers(scheduler: str) -> None:
    """Refuse an address where no scheduler answers. A client would take longer to fail, and log an error at exit."""
    check_address(scheduler)
    try:
        with ThreadPoolExecutor(1) as pool:  # this thread may already have an event loop
            found = pool.submit(asyncio.run, _identity(scheduler)).result()["type"]
    except Exception as error:  # an unknown program at that address may give any answer
        reason = str(error) or type(error).__name__
        if isinstance(error, OSError):
            reason = f"no answer within {CONNECT_SECONDS:g} s"
        raise StudyError(f"no Dask scheduler answered at {scheduler}: {reason}") from error
    if found != "Scheduler":
        raise StudyError(
            f"{scheduler} is the address of a {found.lower()}; expected that of a Dask scheduler"
        )


async def _identity(address: str) -> Any:
    arguments = _distributed(".security").Security().get_connection_args("client")
    remote = _distributed(".core").rpc(address, timeout=CONNECT_SECONDS, connection_args=arguments)
    async with remote:
        return await asyncio.wait_for(remote.identity(), CONNECT_SECONDS)


def check_address(scheduler: str) -> None:
    """Refuse what cannot be the address of a scheduler."""
    scheme, _, rest = scheduler.rpartition("://")
    try:
        parts = urlsplit(f"//{rest}")
        sensible = bool(parts.hostname and parts.port and parts.netloc == rest and not parts.username)
    except ValueError:  # a port that is not a number, or too large
        sensible = False
    if not sensible or scheme not in ("", "tcp", "tls", "ucx", "ws", "wss"):
        raise StudyError(f"scheduler is {scheduler!r}; expected an address such as tcp://host:8786")


# ---------------------------------------------------------------------------------------------- the same software


def check_workers(client: Any, needed: Mapping[str, Any]) -> None:
    """Check that all workers have our versions and can load what is needed; wait for the first if there is none."""
    _wait_for_a_worker(client)
    packed = {name: _dumps(value) for name, value in needed.items()}
    answers = client.run(_problem_here, versions(), packed, on_error="return")
    for worker, answer in answers.items():
        if isinstance(answer, OSError):
            continue  # it has just gone; a worker that replaces it is checked with every call
        if answer is not None:
            said = " ".join(f"{type(answer).__name__}: {answer}".split())
            raise StudyError(
                f"worker {worker} {answer if isinstance(answer, str) else f'cannot take part: {said}'}"
            )


def _wait_for_a_worker(client: Any) -> None:
    if client.nthreads():
        return
    wish = client.submit(operator.truth, True, pure=False)  # an adaptive cluster starts workers only for work
    try:
        wish.result(timeout=JOIN_SECONDS)
    except TimeoutError:
        address = client.scheduler.address
        raise StudyError(
            f"no worker joined the scheduler at {address} within {JOIN_SECONDS:g} s; "
            f"start one: dask worker {address}"
        ) from None
    finally:
        wish.cancel()


def _problem_here(expected: Mapping[str, str], needed: Mapping[str, bytes]) -> str | None:
    """What is wrong with this worker, if anything; it runs on the worker."""
    different = _version_difference(expected)
    if different is not None:
        return different
    for name, packed in needed.items():
        try:
            _loads(packed)
        except Exception as error:
            return f"cannot load {name}: {' '.join(f'{type(error).__name__}: {error}'.split())}"
    return None


def _version_difference(expected: Mapping[str, str]) -> str | None:
    found = _versions_here()
    for package, version in expected.items():
        if found[package] != version:
            return f"has {package} {found[package]} but the study has {version}; the results might differ"
    return None


@lru_cache(maxsize=1)
def _versions_here() -> dict[str, str]:
    return versions()


# ---------------------------------------------------------------------------------------------- running

Call = tuple[tuple[Shared, ...], tuple[Any, ...]]


def run_on_workers(
    client: Any, function: Callable[..., Any], calls: Iterable[Call], killed: Callable[[Call, int], Any]
) -> Iterator[Any]:
    """Call `function(*shared, *own)` for each call, and yield the results in the order in which they finish.

    If a worker dies, its calls are made elsewhere. Dask blames all calls that a dying worker was holding, and gives up
    a call that is blamed several times. Such calls are tried once more at the end, each alone in the cluster; one that
    is given up again was the cause, and its result is `killed(call, number of workers that died)`.

    Raises ConnectionError if the scheduler is lost, or there is no worker for `PATIENCE` seconds. When the caller stops
    iterating, what was submitted is cancelled.
    """
    running = _Running(client, function)
    suspects: list[Call] = []
    try:
        for call in calls:
            yield from running.results(suspects, down_to=running.capacity() - 1)
            running.submit(call)
        yield from running.results(suspects, down_to=0)
        for call in suspects:
            running.forget_shared()
            running.submit(call)
            _, result, deaths = running.next()
            yield killed(call, deaths) if deaths else result
    finally:
        running.cancel()


class _Running:
    """The calls that a cluster is working on."""

    def __init__(self, client: Any, function: Callable[..., Any]) -> None:
        self.client = client
        self.id = uuid4().hex
        self.n_submitted = 0
        self.pending: dict[Any, tuple[Any, Call, tuple[Any, ...]]] = {}
        self.ended: SimpleQueue[Any] = SimpleQueue()
        self.function = Shared("function", "", _Remote(function, versions()))
        self.shared: dict[str, tuple[str, Any]] = {}
        self.n_threads = 0
        self.looked_at = self.last_seen = -float("inf")
        self.look()

    def capacity(self) -> int:
        """How many calls the cluster should have, which changes as workers join and leave."""
        if time.monotonic() - self.looked_at > LOOK_SECONDS:
            self.look()
        return CALLS_PER_THREAD * max(self.n_threads, 1)

    def look(self) -> None:
        """Count the threads of the workers; give up if there have been none for too long."""
        try:
            self.n_threads = sum(self.client.nthreads().values())
        except Exception as error:
            raise self.lost() from error
        self.looked_at = time.monotonic()
        if self.n_threads or self.last_seen < 0:
            self.last_seen = self.looked_at
        elif self.looked_at - self.last_seen > PATIENCE:
            raise ConnectionError(f"the Dask cluster has had no worker for {PATIENCE:g} s")

    def submit(self, call: Call) -> None:
        """Send a call to the cluster."""
        shared, own = call
        # The call keeps references to what it shares with others, which must live as long as the call does.
        parts = tuple(map(self.share, (self.function, *shared)))
        remote, *arguments = parts
        future = self.client.submit(
            operator.call, remote, _dumps(own), *arguments, key=self.key("job"), pure=False
        )
        self.pending[future.key] = (future, call, parts)
        self.watch(future)

    def share(self, part: Shared) -> Any:
        """The future of a shared argument, which is sent if it is not in the cluster yet."""
        name, future = self.shared.get(part.kind, (None, None))
        if name != part.name:
            load = _distributed(".protocol.pickle").loads
            # No warning that it is large: it is sent once.
            with import_module("dask").config.set({"distributed.admin.large-graph-warning-threshold": 2**60}):
                future = self.client.submit(load, _dumps(part.value), key=self.key("shared"), pure=False)
            self.shared[part.kind] = (part.name, future)
        return future

    def forget_shared(self) -> None:
        """Send shared arguments again with the next call: workers that held them may be dead."""
        self.shared.clear()

    def key(self, what: str) -> str:
        """A new name for one of our tasks."""
        self.n_submitted += 1
        return f"hietan_{what}-{self.id}-{self.n_submitted}"

    def watch(self, future: Any) -> None:
        """Have `next` notice when a call ends."""
        future.add_done_callback(lambda ended: self.ended.put(ended.key))

    def results(self, suspects: list[Call], down_to: int) -> Iterator[Any]:
        """Yield results until at most `down_to` calls are left; calls that were given up join the suspects."""
        while len(self.pending) > down_to:
            call, result, deaths = self.next()
            if deaths:
                suspects.append(call)
            else:
                yield result

    def next(self) -> tuple[Call, Any, int]:
        """Wait for a call to end: the call, its result and, if it was given up, how many workers had died."""
        while True:
            try:
                key = self.ended.get(timeout=LOOK_SECONDS)
            except Empty:
                self.look()
                continue
            future, call, _ = self.pending[key]
            result, deaths = None, 0
            try:
                result = future.result(timeout=PATIENCE)
            except _distributed(".scheduler").KilledWorker as error:
                deaths = error.allowed_failures + 1
            except (CancelledError, asyncio.CancelledError) as error:
                raise self.lost() from error
            except TimeoutError:
                if future.status == "error":
                    raise
                self.watch(future)  # its worker died before the result was fetched: it is computed again
                self.look()
                continue
            del self.pending[key]
            return call, result, deaths

    def lost(self) -> ConnectionError:
        """The error to raise when the scheduler no longer answers."""
        return ConnectionError("the Dask scheduler is gone, or has dropped the jobs of the study")

    def cancel(self) -> None:
        """Cancel all calls under way."""
        futures = [future for future, *_ in self.pending.values()]
        self.pending.clear()
        self.shared.clear()
        if futures and self.client.status == "running":
            with suppress(Exception):
                self.client.cancel(futures, force=True)


class _Remote:
    """What a worker does with the packed arguments of a call."""

    def __init__(self, function: Callable[..., Any], expected: Mapping[str, str]) -> None:
        self.function = function
        self.expected = expected

    def __call__(self, own: bytes, *shared: Any) -> Any:
        different = _version_difference(self.expected)
        if different is not None:
            raise ConnectionError(f"worker {_distributed().get_worker().address} {different}")
        return self.function(*shared, *_loads(own))


def _loads(packed: bytes) -> Any:
    return _distributed(".protocol.pickle").loads(packed)


def _dumps(value: Any) -> bytes:
    packed: bytes = _distributed(".protocol.pickle").dumps(value)
    return packed
