package io.troupe.cluster.placement;

/** What a process is there for. */
public sealed interface Role {
  /** The head: its copy of the policy, evaluations, a teacher. */
  record Head() implements Role {}

  /** A data-parallel rank of the trainer. */
  record Trainer(int rank) implements Role {}

  /** A rollout worker, counted over all nodes. */
  record Rollout(int worker) implements Role {}

  /** A worker of the reference or teacher, counted over all nodes. */
  record Reference(int worker) implements Role {}

  /** One to four characters for a drawing. */
  default String label() {
    return switch (this) {
      case Head() -> "H";
      case Trainer(int rank) -> "T" + rank;
      case Rollout(int worker) -> "W" + worker;
      case Reference(int worker) -> "R" + worker;
    };
  }
}
