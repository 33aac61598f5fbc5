"""
The packet simulator. Times are integer nanoseconds, sizes bytes, rates bit/s. Use subflow_sim instead.
"""

from collections.abc import Mapping, Sequence
import enum
from typing import Annotated, Any

import numpy
import numpy.typing
from numpy.typing import NDArray


build: str = 'release'

class CoreScenarioError(ValueError):
    pass

class CorePolicyError(CoreScenarioError):
    pass

class CoreScriptRunError(RuntimeError):
    pass

class CoreInternalError(RuntimeError):
    pass

class OptionKind(enum.Enum):
    NUMBER = 0

    RATIO = 1

    TIME = 2

    RATE = 3

    FLAG = 4

    CHOICE = 5

    POLICY = 6

class OptionInfo:
    @property
    def key(self) -> str: ...

    @property
    def kind(self) -> OptionKind: ...

    @property
    def help(self) -> str: ...

    @property
    def default_number(self) -> float: ...

    @property
    def default_choice(self) -> str: ...

    @property
    def textbook_choice(self) -> str: ...

    @property
    def minimum(self) -> float: ...

    @property
    def maximum(self) -> float: ...

    @property
    def unit(self) -> str: ...

    @property
    def base(self) -> str: ...

    @property
    def choices(self) -> list[str]: ...

class RuleNumber:
    @property
    def name(self) -> str: ...

    @property
    def meaning(self) -> str: ...

class RuleInfo:
    @property
    def name(self) -> str: ...

    @property
    def formula(self) -> str: ...

    @property
    def computed(self) -> str: ...

    @property
    def source(self) -> str: ...

    @property
    def numbers(self) -> list[RuleNumber]: ...

def all_rules() -> list[RuleInfo]:
    """A rule's position is its number in the column `rule` of decisions."""

class AlgorithmInfo:
    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str: ...

    @property
    def source(self) -> str: ...

    @property
    def is_coupled(self) -> bool: ...

    @property
    def scheduler(self) -> str: ...

    @property
    def options(self) -> list[OptionInfo]: ...

    @property
    def rules(self) -> list[RuleInfo]: ...

def controller_infos() -> list[AlgorithmInfo]: ...

def scheduler_infos() -> list[AlgorithmInfo]: ...

class NetworkPolicy:
    @property
    def document(self) -> str: ...

    @property
    def controller(self) -> str: ...

    @property
    def history(self) -> int: ...

    @property
    def width(self) -> int: ...

    @property
    def slots(self) -> int | None: ...

    def act_many(self, rows: numpy.typing.NDArray[numpy.float32], mask: numpy.typing.NDArray[numpy.bool_], acting: numpy.typing.NDArray[numpy.bool_]) -> tuple[numpy.typing.NDArray[numpy.float32], numpy.typing.NDArray[numpy.float32]]:
        """
        Maps rows [observations, slots, width] to actions [observations, slots, action width] and values.
        """

def read_policy(file: bytes) -> NetworkPolicy:
    """The policy in the bytes of a file, for the controller named there."""

class CoreScriptProgramError(ValueError):
    pass

class ScriptProgram:
    """A compiled script; immutable, and shared by all its runs."""

    @property
    def name(self) -> str: ...

    @property
    def text(self) -> str: ...

    @property
    def told(self) -> list[tuple[str, str, str, int]]: ...

    @property
    def code(self) -> list[tuple[str, int, int, int, int, int]]: ...

    @property
    def frame(self) -> list[float]: ...

    @property
    def entry(self) -> list[int]: ...

    @property
    def cell_count(self) -> int: ...

    @property
    def instruction_count(self) -> int: ...

class ScriptFieldKind(enum.Enum):
    REAL = 0

    TIME = 1

    FLAG = 2

    COMPUTED = 3

class ScriptField:
    @property
    def object(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> ScriptFieldKind: ...

    @property
    def place(self) -> int: ...

def read_program(fields: dict[str, Any]) -> ScriptProgram:
    """The checked program with these fields."""

def script_frame(program: ScriptProgram, options: Sequence[tuple[str, float]]) -> list[float]:
    """The initial frame of a program with these options."""

def script_hooks() -> list[str]:
    """Names of the hooks, indexed by number."""

def script_fields() -> list[ScriptField]: ...

def exponential(y: float) -> float: ...

def natural_log(x: float) -> float: ...

def power(x: float, exponent: float) -> float: ...

def cube_root(x: float) -> float: ...

SCRIPT_MOST_CELLS: int = 250

SCRIPT_MOST_INSTRUCTIONS: int = 4096

SCRIPT_MOST_KEPT: int = 8

class CoreScenarioJsonError(ValueError):
    pass

class Scenario:
    def with_events(self, other: Scenario) -> Scenario:
        """A copy with the events of another scenario added."""

    def to_json(self) -> str:
        """
        JSON text for read_scenario() of the same version; it refers to policies by position.
        """

def read_scenario(document: dict[str, Any], policies: Sequence[NetworkPolicy] = []) -> Scenario:
    """
    The scenario of a document, which may contain policies, programs and recordings (bytes, uint32 each) instead of the positions and texts of to_json(); its positions refer to the given policies.
    """

def random_outages(name: str, seed: int, mean_up_ns: int, mean_down_ns: int, until_ns: int) -> list[tuple[int, int]]:
    """
    Outages of the component with that name: start and end times, in order.
    """

def draw(name: str, seed: int, number: int) -> float:
    """Draw `number` of a name, uniform in [0, 1)."""

def poisson_arrivals(name: str, seed: int, mean_gap_ns: int, from_ns: int, until_ns: int, limit: int, lifetime_ns: int | None, is_lifetime_exponential: bool) -> list[tuple[int, int | None]]:
    """
    Arrival times of the flows of a name and the lifetime of each (None: endless), in order. A limit of 0 means unlimited.
    """

class Cause(enum.Enum):
    START = 0

    ACK = 1

    LOSS = 2

    RTO = 3

    RECOVERY_EXIT = 4

    INTERVAL = 5

    IDLE = 6

    SCHEDULE = 7

    ACTION = 8

    MARK = 9

class DecisionTable:
    @property
    def time_ns(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def owner(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def cause(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def rule(self) -> Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def cwnd_before_pkts(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def cwnd_after_pkts(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def rate_before_bps(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def rate_after_bps(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def numbers(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]: ...

    @property
    def chosen(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def available(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def usable(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def data_seq(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def step_count(self) -> Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def step_notes(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def step_values(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

class PacketTable:
    @property
    def time_ns(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def echo_ns(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def seq(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def data_seq(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def transmission(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def right_edge(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def subflow(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def sack(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None, 3, 2), order='C', device='cpu', writable=False)]: ...

    @property
    def size_bytes(self) -> Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def payload_bytes(self) -> Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def kind(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def station(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def incarnation(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def sack_count(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def ecn(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def ecn_flags(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def has_ecn_option(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def ecn_bytes(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None, 3), order='C', device='cpu', writable=False)]: ...

class Fate(enum.Enum):
    UNDER_WAY = 0

    ARRIVED = 1

    QUEUE_FULL = 2

    QUEUE_LAW = 3

    RANDOM = 4

    COLLISION = 5

    DOWN = 6

    SCRIPTED = 7

    MARKED = 8

class LossSign(enum.Enum):
    DUPLICATE_ACKS = 0

    REORDERING_WINDOW = 1

    TAIL_LOSS_PROBE = 2

    RTO = 3

    MARKS = 4

class LossTable:
    @property
    def time_ns(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def sent_ns(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def subflow(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def seq(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def number(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def sign(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def fate(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def fate_ns(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def link(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def queue_pkts(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def queue_bytes(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def limit_pkts(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def limit_bytes(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def overtaken_ns(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def lost_acks(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def ack_link(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

class FateTable:
    @property
    def time_ns(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def sent_ns(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def subflow(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def seq(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def number(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def kind(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def fate(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def link(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def queue_pkts(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def queue_bytes(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def limit_pkts(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def limit_bytes(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

class DrivenControllers:
    """
    The controllers of one connection without a network, for comparison with a reference: one subflow per smoothed RTT, all with a window of cwnd_pkts. Windows and thresholds are in packets; an unset threshold is inf. An unknown subflow raises IndexError.
    """

    def __init__(self, controller: str, options: Mapping[str, bool | float | str], srtt_ns: Sequence[int], cwnd_pkts: float) -> None: ...

    def acknowledge(self, subflow: int, pkts: int, rtt_ns: int, srtt_ns: int, snd_nxt: int, is_cwnd_limited: bool) -> None:
        """
        An ACK of `pkts` further packets, with its RTT sample and the smoothed RTT after it.
        """

    def lose(self, subflow: int, by_timeout: bool) -> None:
        """A loss was detected: cwnd becomes ssthresh, or 1 after a timeout."""

    def recover(self, subflow: int, snd_nxt: int) -> None:
        """The latest ACK ended the recovery."""

    def set_window(self, subflow: int, cwnd_pkts: float) -> None:
        """Sets the window, as the sender does."""

    def cwnd_pkts(self, subflow: int) -> float: ...

    def ssthresh_pkts(self, subflow: int) -> float: ...

class Socket:
    """State of a subflow's Linux socket, for DrivenLinuxMptcp."""

    def __init__(self) -> None: ...

    @property
    def is_open(self) -> bool: ...

    @is_open.setter
    def is_open(self, arg: bool, /) -> None: ...

    @property
    def is_backup(self) -> bool: ...

    @is_backup.setter
    def is_backup(self, arg: bool, /) -> None: ...

    @property
    def incarnation(self) -> int: ...

    @incarnation.setter
    def incarnation(self, arg: int, /) -> None: ...

    @property
    def acks_heard(self) -> int: ...

    @acks_heard.setter
    def acks_heard(self, arg: int, /) -> None: ...

    @property
    def cwnd_pkts(self) -> int: ...

    @cwnd_pkts.setter
    def cwnd_pkts(self, arg: int, /) -> None: ...

    @property
    def ssthresh_pkts(self) -> int: ...

    @ssthresh_pkts.setter
    def ssthresh_pkts(self, arg: int, /) -> None: ...

    @property
    def packets_out(self) -> int: ...

    @packets_out.setter
    def packets_out(self, arg: int, /) -> None: ...

    @property
    def unsent_pkts(self) -> int: ...

    @unsent_pkts.setter
    def unsent_pkts(self, arg: int, /) -> None: ...

    @property
    def srtt_eighth_us(self) -> int: ...

    @srtt_eighth_us.setter
    def srtt_eighth_us(self, arg: int, /) -> None: ...

    @property
    def paced_rate(self) -> int: ...

    @paced_rate.setter
    def paced_rate(self, arg: int, /) -> None: ...

    @property
    def timer_ns(self) -> int: ...

    @timer_ns.setter
    def timer_ns(self, arg: int, /) -> None: ...

class DrivenLinuxMptcp:
    """
    The scheduler linux-mptcp without a network, for comparison with a reference, decision by decision.
    """

    def __init__(self, options: Mapping[str, bool | float | str]) -> None: ...

    def select(self, now_ns: int, sockets: Sequence[Socket], payload_bytes: int, window_left_bytes: int) -> int | None:
        """Position of the subflow for the next packet."""

    def select_retransmission(self, sockets: Sequence[Socket]) -> tuple[int | None, list[int]]:
        """
        The connection's timer expired: the subflow for the head of the line, and the subflows that became stale.
        """

    def timeout_ns(self, sockets: Sequence[Socket]) -> int: ...

    def is_stale(self, position: int) -> bool: ...

    def mean_rate(self, position: int) -> int:
        """Bytes/s."""

    def send_buffer(self, position: int) -> int:
        """Bytes."""

class AgentStepTable:
    @property
    def time_ns(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), device='cpu', writable=False)]: ...

    @property
    def agent(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), device='cpu', writable=False)]: ...

    @property
    def number(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), device='cpu', writable=False)]: ...

    @property
    def subflow(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), device='cpu', writable=False)]: ...

    @property
    def is_acting(self) -> Annotated[NDArray[numpy.bool_], dict(shape=(None,), device='cpu', writable=False)]: ...

    @property
    def value(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), device='cpu', writable=False)]: ...

    @property
    def reward(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), device='cpu', writable=False)]: ...

    @property
    def epoch_s(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), device='cpu', writable=False)]: ...

    @property
    def sending_rate_bps(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), device='cpu', writable=False)]: ...

    @property
    def goodput_bps(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), device='cpu', writable=False)]: ...

    @property
    def loss_ratio(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), device='cpu', writable=False)]: ...

    @property
    def rtt_s(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), device='cpu', writable=False)]: ...

    @property
    def min_rtt_s(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), device='cpu', writable=False)]: ...

    @property
    def schedule_share(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), device='cpu', writable=False)]: ...

    @property
    def cwnd_before_pkts(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), device='cpu', writable=False)]: ...

    @property
    def cwnd_after_pkts(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), device='cpu', writable=False)]: ...

    @property
    def rate_before_bps(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), device='cpu', writable=False)]: ...

    @property
    def rate_after_bps(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), device='cpu', writable=False)]: ...

    @property
    def observation(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)]: ...

    @property
    def action(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)]: ...

class NumberInfo:
    @property
    def name(self) -> str: ...

    @property
    def unit(self) -> str: ...

    @property
    def help(self) -> str: ...

    @property
    def minimum(self) -> float: ...

    @property
    def maximum(self) -> float: ...

def agent_info(controller: str, options: Mapping[str, bool | float | str]) -> dict[str, Any] | None:
    """
    Description of the agent of that controller with these options; None without an agent.
    """

class EpisodeSummary:
    @property
    def goodput_bps(self) -> float: ...

    @property
    def flow_goodput_bps(self) -> float: ...

    @property
    def rtt_inflation(self) -> float: ...

    @property
    def rtt_s(self) -> float: ...

    @property
    def loss_ratio(self) -> float: ...

    @property
    def jain(self) -> float: ...

    @property
    def duration_s(self) -> float: ...

    @property
    def decisions(self) -> int: ...

class VecEnv:
    def __init__(self, controller: str, envs: int, slots: int, width: int, action_width: int, threads: int) -> None: ...

    def load(self, env: int, scenario: Scenario, seed: int, end_ns: int, groups: Sequence[int] = []) -> None: ...

    def send(self, envs: Sequence[int]) -> None: ...

    def recv(self, least: int) -> list[int]: ...

    def summary(self, env: int) -> EpisodeSummary: ...

    def observation(self) -> NDArray[numpy.float32]: ...

    def mask(self) -> NDArray[numpy.bool_]: ...

    def finished(self) -> NDArray[numpy.bool_]: ...

    def acting(self) -> NDArray[numpy.bool_]: ...

    def agent(self) -> NDArray[numpy.int32]: ...

    def flow(self) -> NDArray[numpy.int32]: ...

    def action(self) -> NDArray[numpy.float32]: ...

    def reward(self) -> NDArray[numpy.float32]: ...

    def truth(self) -> NDArray[numpy.float32]: ...

    def team_reward(self) -> NDArray[numpy.float32]: ...

    def terminated(self) -> NDArray[numpy.bool_]: ...

    def truncated(self) -> NDArray[numpy.bool_]: ...

    def time_s(self) -> NDArray[numpy.float64]: ...

def agent_slots(scenario: Scenario, controller: str) -> int:
    """
    Number of subflows that the agents of that controller observe in a scenario.
    """

class PacketsUnderWay:
    @property
    def link(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def subflow(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def kind(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def seq(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def size_bytes(self) -> Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def progress(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def queue_position(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

class LinksNow:
    @property
    def queue_pkts(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def queue_bytes(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def is_up(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def delivered_pkts(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def dropped_pkts(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

class SubflowState(enum.Enum):
    CLOSED = 0

    JOINING = 1

    OPEN = 2

    RECOVERY = 3

    LOSS = 4

    DATAGRAMS = 5

    REDUCED = 6

class SubflowsNow:
    @property
    def is_established(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def state(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def cwnd_pkts(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def ssthresh_pkts(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def inflight_pkts(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def srtt_s(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def min_rtt_s(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def rto_s(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def pacing_rate_bps(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

class FlowsNow:
    @property
    def delivered_bytes(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def reorder_queue_bytes(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    @property
    def is_active(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

class Instant:
    @property
    def now_ns(self) -> int: ...

    @property
    def packets(self) -> PacketsUnderWay: ...

    @property
    def links(self) -> LinksNow: ...

    @property
    def subflows(self) -> SubflowsNow: ...

    @property
    def flows(self) -> FlowsNow: ...

class TraceScope(enum.Enum):
    FLOW = 0

    SUBFLOW = 1

    LINK = 2

class TraceColumn:
    @property
    def scope(self) -> TraceScope: ...

    @property
    def owner(self) -> int: ...

    @property
    def name(self) -> str: ...

    @property
    def unit(self) -> str: ...

class MarkKind(enum.Enum):
    LOSS = 0

    RTO = 1

    RECOVERED = 2

    ESTABLISHED = 3

    CLOSED = 4

    COMPLETED = 5

    LINK_UP = 6

    LINK_DOWN = 7

    LINK_CHANGE = 8

    PENALISED = 9

    META_RTO = 10

    ACTION = 11

    CONTROLLER_CHANGE = 12

    SCRIPTED_DROP = 13

    ANNOUNCED = 14

    REFUSED = 15

    STALE = 16

    MARKED = 17

class Mark:
    @property
    def time_ns(self) -> int: ...

    @property
    def value(self) -> float: ...

    @property
    def owner(self) -> int: ...

    @property
    def kind(self) -> MarkKind: ...

class PacketBalance:
    @property
    def in_flight_at_start(self) -> int: ...

    @property
    def sent(self) -> int: ...

    @property
    def delivered(self) -> int: ...

    @property
    def dropped(self) -> int: ...

    @property
    def lost(self) -> int: ...

    @property
    def acked(self) -> int: ...

class DelayResult:
    @property
    def mean_s(self) -> float: ...

    @property
    def p95_s(self) -> float: ...

    @property
    def max_s(self) -> float: ...

    @property
    def mean_jitter_s(self) -> float: ...

    @property
    def reordered_pkts(self) -> int: ...

    @property
    def reordered_ratio(self) -> float: ...

    @property
    def max_extent_pkts(self) -> int: ...

    @property
    def mean_ack_s(self) -> float: ...

    @property
    def p95_ack_s(self) -> float: ...

    @property
    def max_ack_s(self) -> float: ...

class SubflowResult:
    @property
    def throughput_bps(self) -> float: ...

    @property
    def goodput_bps(self) -> float: ...

    @property
    def mean_cwnd_pkts(self) -> float: ...

    @property
    def active_mean_cwnd_pkts(self) -> float: ...

    @property
    def mean_rtt_s(self) -> float: ...

    @property
    def loss_ratio(self) -> float: ...

    @property
    def retransmits(self) -> int: ...

    @property
    def timeouts(self) -> int: ...

    @property
    def marked_pkts(self) -> int: ...

    @property
    def mark_reductions(self) -> int: ...

    @property
    def packets(self) -> PacketBalance: ...

    @property
    def schedule_share(self) -> float: ...

    @property
    def delays(self) -> DelayResult | None: ...

class FlowResult:
    @property
    def goodput_bps(self) -> float: ...

    @property
    def completion_s(self) -> float: ...

    @property
    def start_s(self) -> float: ...

    @property
    def active_s(self) -> float: ...

    @property
    def active_goodput_bps(self) -> float: ...

    @property
    def mean_rtt_s(self) -> float: ...

    @property
    def p95_rtt_s(self) -> float: ...

    @property
    def loss_ratio(self) -> float: ...

    @property
    def packets(self) -> PacketBalance: ...

    @property
    def retransmits(self) -> int: ...

    @property
    def marked_pkts(self) -> int: ...

    @property
    def mark_reductions(self) -> int: ...

    @property
    def reinjections(self) -> int: ...

    @property
    def duplicates(self) -> int: ...

    @property
    def mean_hol_blocking_s(self) -> float: ...

    @property
    def max_reorder_queue_bytes(self) -> int: ...

    @property
    def delays(self) -> DelayResult | None: ...

class LinkResult:
    @property
    def utilisation(self) -> float: ...

    @property
    def drops_queue(self) -> int: ...

    @property
    def drops_random(self) -> int: ...

    @property
    def drops_down(self) -> int: ...

    @property
    def drops_scripted(self) -> int: ...

    @property
    def marks(self) -> int: ...

    @property
    def mean_queue_pkts(self) -> float: ...

    @property
    def max_queue_pkts(self) -> int: ...

class Snapshot:
    @property
    def now_ns(self) -> int: ...

    @property
    def bytes(self) -> int: ...

class Estimate:
    @property
    def link_crossings(self) -> float: ...

    @property
    def trace_bytes(self) -> float: ...

    @property
    def packet_bytes(self) -> float: ...

    @property
    def object_bytes(self) -> float: ...

    @property
    def decision_bytes(self) -> float: ...

    @property
    def memory_bytes(self) -> float: ...

    @property
    def samples(self) -> int: ...

    @property
    def columns(self) -> int: ...

    @property
    def busiest_flow(self) -> str: ...

    @property
    def busiest_crossings(self) -> float: ...

    @property
    def fullest(self) -> str: ...

    @property
    def fullest_bytes(self) -> float: ...

def estimate(scenario: Scenario, sample_interval_ns: int, decision_capacity: int | None = None) -> Estimate: ...

class RunEnd(enum.Enum):
    REACHED = 0

    INTERRUPTED = 1

    EXHAUSTED = 2

    WAITING = 3

    OVER_EVENTS = 4

    OVER_MEMORY = 5

class Simulation:
    def __init__(self, scenario: Scenario, seed: int, sample_interval_ns: int) -> None: ...

    def run_until(self, until_ns: int, max_events: int = 9223372036854775807) -> RunEnd: ...

    def interrupt(self) -> None: ...

    def apply(self, changes: Scenario) -> int:
        """
        Applies the events of that scenario now, in fact at the returned time in nanoseconds.
        """

    def set_limits(self, link_crossings: int, memory_bytes: int) -> None: ...

    @property
    def memory_bytes(self) -> int: ...

    @property
    def fullest(self) -> tuple[str, int]:
        """
        The part with the most memory, for example "link 'wifi/forward'" or "flow 'download'", and its bytes.
        """

    @property
    def now_ns(self) -> int: ...

    @property
    def duration_ns(self) -> int: ...

    @property
    def is_finished(self) -> bool: ...

    @property
    def packets_delivered(self) -> int: ...

    @property
    def packets_in_flight(self) -> list[int]: ...

    @property
    def link_crossings(self) -> int: ...

    def signature(self) -> int: ...

    def columns(self) -> list[TraceColumn]: ...

    @property
    def sample_count(self) -> int: ...

    def values(self, column: int, first: int = 0) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]: ...

    def take_marks(self) -> list[Mark]: ...

    def record_decisions(self, capacity: int, window_ns: int | None) -> None: ...

    def take_decisions(self) -> DecisionTable: ...

    def scripts(self) -> list[ScriptProgram]:
        """Scripts that have run here, in the order of script_rules()."""

    def script_rules(self) -> list[RuleInfo]:
        """Further rules of decisions, numbered after all_rules()."""

    @property
    def failed_script(self) -> tuple[str, int] | None:
        """The script that failed and its line."""

    @property
    def decisions_fill(self) -> float: ...

    @property
    def decisions_lost(self) -> int: ...

    def capture_packets(self, flow: int, capacity: int) -> None: ...

    def take_packets(self) -> PacketTable: ...

    @property
    def packets_not_captured(self) -> int: ...

    def record_fates(self, flow: int, capacity: int) -> None: ...

    def losses(self) -> LossTable: ...

    def fates(self) -> FateTable: ...

    @property
    def fates_lost(self) -> int: ...

    @property
    def marks_lost(self) -> int: ...

    def take_intervals(self) -> dict[str, Any]: ...

    def agents(self) -> list[dict[str, Any]]: ...

    def take_agent_steps(self) -> AgentStepTable: ...

    @property
    def agent_steps_lost(self) -> int: ...

    @property
    def intervals_lost(self) -> int: ...

    def flow_result(self, flow: int) -> FlowResult: ...

    def subflow_result(self, subflow: int) -> SubflowResult: ...

    def link_result(self, link: int) -> LinkResult: ...

    def inspect(self) -> Instant: ...

    def check_invariants(self) -> None: ...

    def snapshot(self) -> Snapshot: ...

    def restore(self, snapshot: Snapshot) -> None: ...

    def fork(self, snapshot: Snapshot) -> Simulation: ...

NEVER_NS: int = 4611686018427387903

class LinkEmulator:
    def __init__(self, networks: Sequence[tuple[str, int]], wires: Sequence[tuple[str, str, Sequence[int], int, str, str, int]], start_ns: int, sample_interval_ns: int, mtu_bytes: int) -> None: ...

    def run(self, end_ns: int) -> None: ...

    def stop(self) -> None: ...

    def change(self, network: int, document: str) -> None: ...

    def take_samples(self) -> list[tuple[int, float, list[float]]]: ...

    def measured_counts(self) -> tuple[list[tuple[int, int, int]], list[tuple[int, int, int]]]: ...

    def conversations(self) -> list[tuple[int, str, int, str, int, tuple[int, int, int]]]: ...

    def results(self) -> dict[str, Any]: ...
