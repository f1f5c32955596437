package io.troupe.engine.http.probe;

import java.util.List;

/** The way in which a server gets new weights. */
public enum UpdateMethod {
  /** The server reads a directory, and changes weights between two tokens. */
  READ,
  /** The server reads a directory while it is paused. */
  PAUSE_AND_READ,
  /** The server's workers read a directory while it is paused; another call names the weights. */
  PAUSE_CALL_AND_NAME,
  /** The server's workers read a directory while it is paused; its weights have no name. */
  PAUSE_AND_CALL,
  /** The server's workers receive the weights by NCCL while it is paused. */
  PAUSE_AND_BROADCAST,
  /** The server's workers receive the weights by NCCL while it is paused; it names them. */
  PAUSE_BROADCAST_AND_CONFIRM,
  /** The server loads an adapter beside its other ones; each request names its adapter. */
  ADAPTER,
  /** The run restarts the server with a directory; for a sidecar that has no other way. */
  RESTART,
  /** The server cannot get new weights. */
  NONE;

  /** The steps, in order. */
  public List<UpdateStep> steps() {
    return switch (this) {
      case READ -> List.of(UpdateStep.READ, UpdateStep.CONFIRM, UpdateStep.TRY, UpdateStep.COMPARE);
      case PAUSE_AND_READ ->
          List.of(
              UpdateStep.PAUSE,
              UpdateStep.READ,
              UpdateStep.CONFIRM,
              UpdateStep.RESUME,
              UpdateStep.TRY,
              UpdateStep.COMPARE);
      case PAUSE_CALL_AND_NAME ->
          List.of(
              UpdateStep.PAUSE,
              UpdateStep.READ,
              UpdateStep.NAME,
              UpdateStep.CONFIRM,
              UpdateStep.RESUME,
              UpdateStep.TRY,
              UpdateStep.COMPARE);
      case PAUSE_AND_CALL ->
          List.of(
              UpdateStep.PAUSE,
              UpdateStep.READ,
              UpdateStep.RESUME,
              UpdateStep.TRY,
              UpdateStep.COMPARE);
      case PAUSE_AND_BROADCAST ->
          List.of(
              UpdateStep.CONNECT,
              UpdateStep.PAUSE,
              UpdateStep.BROADCAST,
              UpdateStep.RESUME,
              UpdateStep.TRY,
              UpdateStep.COMPARE);
      case PAUSE_BROADCAST_AND_CONFIRM ->
          List.of(
              UpdateStep.CONNECT,
              UpdateStep.PAUSE,
              UpdateStep.BROADCAST,
              UpdateStep.CONFIRM,
              UpdateStep.RESUME,
              UpdateStep.TRY,
              UpdateStep.COMPARE);
      case ADAPTER -> List.of(UpdateStep.LOAD, UpdateStep.LIST, UpdateStep.TRY, UpdateStep.BASE);
      case RESTART ->
          List.of(UpdateStep.DRAIN, UpdateStep.RESTART, UpdateStep.TRY, UpdateStep.COMPARE);
      case NONE -> List.of();
    };
  }
}
