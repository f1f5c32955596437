package io.troupe.environments;

import io.troupe.core.rollout.LeaseId;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Turns that wait for something other than the policy: a tool, an environment, an agent. All those
 * of a process are in one place, because a process works for one run, and a view of it must not
 * need what runs the episodes.
 */
public final class HeldTurns {
  private static final Set<Hold> HOLDS = ConcurrentHashMap.newKeySet();

  /**
   * Turns that wait for the same tool or agent.
   *
   * @param on the tool, environment or agent
   * @param turns that wait for it, 1 or more
   * @param who the episode of the one that has waited longest
   * @param since time since which that episode has waited, in milliseconds since 1970
   */
  public record HeldTurn(String on, int turns, String who, long since) {
    private HeldTurn and(HeldTurn other) {
      HeldTurn longer = since <= other.since ? this : other;
      return new HeldTurn(on, turns + other.turns, longer.who, longer.since);
    }
  }

  /** One wait, until it is closed. */
  public static final class Hold implements AutoCloseable {
    private final HeldTurn turn;

    private Hold(HeldTurn turn) {
      this.turn = turn;
    }

    @Override
    public void close() {
      HOLDS.remove(this);
    }
  }

  private final String what;

  private HeldTurns(String what) {
    this.what = what;
  }

  /** The held turns of a run's groups. */
  public static HeldTurns ofGroups() {
    return new HeldTurns("g");
  }

  /** The held turns of held-out prompts, which are numbered as groups are. */
  public static HeldTurns ofEvaluation() {
    return new HeldTurns("evaluation prompt ");
  }

  /**
   * A wait that begins now.
   *
   * @param index of the episode in its group
   */
  public Hold hold(LeaseId lease, int index, String on) {
    String who = "%s%d episode %d".formatted(what, lease.group().number(), index + 1);
    Hold hold = new Hold(new HeldTurn(on, 1, who, System.currentTimeMillis()));
    HOLDS.add(hold);
    return hold;
  }

  /** Returns what the turns of this process wait for. */
  public static List<HeldTurn> ofThisProcess() {
    Map<String, HeldTurn> held = new TreeMap<>();
    HOLDS.forEach(hold -> held.merge(hold.turn.on, hold.turn, HeldTurn::and));
    return List.copyOf(held.values());
  }
}
