package io.troupe.engine.http.probe;

import java.util.List;

/** How a server gets new weights. */
public enum UpdateMethod {
  /** It reads a directory, and moves between two tokens. */
  READ,
  /** It reads a directory while it is paused. */
  PAUSE_AND_READ,
  /** Its workers read a directory while it is paused; its name for the weights is set apart. */
  PAUSE_CALL_AND_NAME,
  /** The same, of a server without names. */
  PAUSE_AND_CALL,
  /** It loads the adapters beside those it has; requests name the ones they want. */
  ADAPTER,
  /** It is ended, and started with a directory; for a server of ours that has no other way. */
  RESTART,
  /** There is none. */
  NONE;

  /** The steps, in order. */
  public List<UpdateStep> steps() {
    return switch (this) {
      case READ -> List.of(UpdateStep.READ, UpdateStep.CONFIRM, UpdateStep.TRY);
      case PAUSE_AND_READ ->
          List.of(
              UpdateStep.PAUSE,
              UpdateStep.READ,
              UpdateStep.CONFIRM,
              UpdateStep.RESUME,
              UpdateStep.TRY);
      case PAUSE_CALL_AND_NAME ->
          List.of(
              UpdateStep.PAUSE,
              UpdateStep.READ,
              UpdateStep.NAME,
              UpdateStep.CONFIRM,
              UpdateStep.RESUME,
              UpdateStep.TRY);
      case PAUSE_AND_CALL ->
          List.of(UpdateStep.PAUSE, UpdateStep.READ, UpdateStep.RESUME, UpdateStep.TRY);
      case ADAPTER -> List.of(UpdateStep.LOAD, UpdateStep.TRY, UpdateStep.COMPARE);
      case RESTART -> List.of(UpdateStep.DRAIN, UpdateStep.RESTART, UpdateStep.TRY);
      case NONE -> List.of();
    };
  }
}
