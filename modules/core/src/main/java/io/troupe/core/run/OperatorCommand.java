package io.troupe.core.run;

import static io.troupe.core.Require.require;

import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.WorkerId;

/**
 * An order that an operator may give to a run that is under way. What changes the experiment
 * itself, the staleness bound above all, is not among them: that is a new run.
 */
public sealed interface OperatorCommand {
  /** A command that the shell carries out; the run only remembers who gave it. */
  sealed interface ForShell {}

  /** Admit nothing and grant no lease until {@link ResumeAdmission}; running work continues. */
  record PauseAdmission() implements OperatorCommand {}

  /** Undo {@link PauseAdmission}. */
  record ResumeAdmission() implements OperatorCommand {}

  /** Take a group from its worker, or out of the buffer, and have it sampled again first. */
  record RequeueGroup(GroupId group) implements OperatorCommand {}

  /** Give a group up for this epoch; it counts as failed. */
  record CancelGroup(GroupId group) implements OperatorCommand {}

  /** Save everything a resume needs: now, or once the running step ends. */
  record SaveCheckpoint() implements OperatorCommand {}

  /** Let groups in flight finish, save everything, and end the run. */
  record Drain() implements OperatorCommand {}

  /**
   * Bound the groups under lease; running groups continue.
   *
   * @param groups 1 or more, at most the run's setting
   */
  record LimitConcurrency(int groups) implements OperatorCommand {
    public LimitConcurrency {
      require(groups >= 1, "the limit of concurrent groups is 1 or greater, not %d", groups);
    }
  }

  /** Stop a rollout worker and start it again; its leases are lost and reissued. */
  record RestartWorker(WorkerId worker) implements OperatorCommand {}

  /** Let a rollout worker finish its groups and end; it is not started again. */
  record DrainWorker(WorkerId worker) implements OperatorCommand {}

  /**
   * Change how much a logger says.
   *
   * @param logger name of the logger
   * @param level new level of the logger
   */
  record SetLogLevel(String logger, String level) implements OperatorCommand, ForShell {}

  /**
   * Give a verifier no new completions; another one judges those it has.
   *
   * @param verifier name of the verifier
   */
  record QuarantineVerifier(String verifier) implements OperatorCommand, ForShell {
    public QuarantineVerifier {
      named("verifier", verifier);
    }
  }

  /** Undo {@link QuarantineVerifier}. */
  record ReleaseVerifier(String verifier) implements OperatorCommand, ForShell {
    public ReleaseVerifier {
      named("verifier", verifier);
    }
  }

  /**
   * Let a node finish its groups and leave the cluster.
   *
   * @param node name of the node
   */
  record DrainNode(String node) implements OperatorCommand, ForShell {
    public DrainNode {
      named("node", node);
    }
  }

  private static void named(String what, String name) {
    require(
        !name.isBlank() && name.length() <= Attribution.MAX_CHARACTERS,
        "the order must name a %s, in at most %d characters",
        what,
        Attribution.MAX_CHARACTERS);
  }
}
