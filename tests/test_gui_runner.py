"""The one model thread: jobs in order, answers in the main thread, nothing left behind."""

from __future__ import annotations

import threading

import pytest
from pytestqt.qtbot import QtBot

from hookviewer.errors import HookViewerError
from hookviewer.gui.runner import Failure, Job, Runner


@pytest.fixture
def runner(qtbot: QtBot):
    one = Runner()
    yield one
    one.close()


def test_work_runs_off_the_main_thread_and_answers_on_it(runner: Runner, qtbot: QtBot) -> None:
    threads: list[threading.Thread] = []

    def work(job: Job) -> str:
        threads.append(threading.current_thread())
        return "done"

    answers: list[tuple[str, threading.Thread]] = []
    runner.submit("run", work, on_result=lambda value: answers.append((value, threading.current_thread())))
    qtbot.waitUntil(lambda: bool(answers))
    assert answers == [("done", threading.main_thread())]
    assert threads[0] is not threading.main_thread()


def test_a_new_job_supersedes_the_old_one_of_its_lane_only(runner: Runner, qtbot: QtBot) -> None:
    go = threading.Event()
    answers: list[str] = []

    def slow(job: Job) -> str:
        go.wait(5)
        return "old, cancelled" if job.cancelled() else "old, not cancelled"

    runner.submit("run", slow, on_result=answers.append)
    runner.submit("inputs", lambda job: "other lane", on_result=answers.append)
    runner.submit("run", lambda job: "new", on_result=answers.append)
    go.set()
    qtbot.waitUntil(lambda: not runner.busy)
    assert answers == ["other lane", "new"]


def test_a_mistake_arrives_as_a_sentence_and_a_bug_with_its_traceback(runner: Runner, qtbot: QtBot) -> None:
    failures: list[Failure] = []

    def mistake(job: Job) -> None:
        raise HookViewerError("Choose a target: a gradient needs one number to start from.")

    def bug(job: Job) -> None:
        raise ValueError("seven")

    runner.submit("a", mistake, on_failure=failures.append)
    runner.submit("b", bug, on_failure=failures.append)
    qtbot.waitUntil(lambda: len(failures) == 2)
    assert failures[0].sentence.startswith("Choose a target")
    assert failures[0].report == ""
    assert failures[1].sentence == "ValueError: seven"
    assert "in bug" in failures[1].report
    assert all(failure.error is not None and failure.error.__traceback__ is None for failure in failures)


def test_reports_keep_their_order_and_dropped_ones_do_not_arrive(runner: Runner, qtbot: QtBot) -> None:
    seen: list[object] = []

    def work(job: Job) -> None:
        for number in range(5):
            job.report(number)

    runner.submit("run", work, on_report=seen.append)
    qtbot.waitUntil(lambda: not runner.busy)
    assert seen == [0, 1, 2, 3, 4]
    runner.submit("run", work, on_report=seen.append)
    runner.cancel("run", drop=True)
    runner.submit("run", lambda job: None)
    qtbot.waitUntil(lambda: not runner.busy)
    assert seen == [0, 1, 2, 3, 4]


def test_closing_stops_the_work_and_joins_the_thread(qtbot: QtBot) -> None:
    runner = Runner()
    started = threading.Event()

    def work(job: Job) -> None:
        started.set()
        while not job.cancelled():
            threading.Event().wait(0.005)

    runner.submit("run", work)
    assert started.wait(5)
    runner.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("hookviewer-model")]


def test_what_is_asked_of_a_closed_runner_is_not_done(qtbot: QtBot) -> None:
    runner = Runner()
    runner.close()
    done: list[Job] = []
    assert runner.submit("run", done.append) == 0
    assert not runner.busy
    assert done == []
