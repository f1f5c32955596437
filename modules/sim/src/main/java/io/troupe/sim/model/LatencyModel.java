package io.troupe.sim.model;

/**
 * The parts of a cluster around the coordinator, as numbers.
 *
 * @param origin source and range of the numbers
 */
public record LatencyModel(
    LatencySource origin,
    Workload workload,
    EngineModel engine,
    VerifyModel verification,
    TrainModel training,
    PublishModel publication,
    FailureRates failures,
    ControlModel control) {
  /** This model with other failures. */
  public LatencyModel withFailures(FailureRates other) {
    return new LatencyModel(
        origin, workload, engine, verification, training, publication, other, control);
  }

  /** This model with other lengths and rewards. */
  public LatencyModel withWorkload(Workload other) {
    return new LatencyModel(
        origin, other, engine, verification, training, publication, failures, control);
  }
}
