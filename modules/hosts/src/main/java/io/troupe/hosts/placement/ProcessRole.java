package io.troupe.hosts.placement;

/** The role of a process. */
public sealed interface ProcessRole {
  /** The coordinator: its copy of the policy, evaluations, a teacher. */
  record Coordinator() implements ProcessRole {}

  /** A data-parallel rank of the trainer. */
  record Trainer(int rank) implements ProcessRole {}

  /** A rollout worker, counted over all nodes. */
  record Rollout(int worker) implements ProcessRole {}

  /** A worker of the reference or teacher, counted over all nodes. */
  record Reference(int worker) implements ProcessRole {}

  /** The watcher that evaluates the run's checkpoints as they come. */
  record Evaluation() implements ProcessRole {}

  /** Returns one to four characters for a drawing. */
  default String label() {
    return switch (this) {
      case Coordinator() -> "C";
      case Trainer(int rank) -> "T" + rank;
      case Rollout(int worker) -> "W" + worker;
      case Reference(int worker) -> "R" + worker;
      case Evaluation() -> "E";
    };
  }
}
