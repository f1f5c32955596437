package io.troupe.console.source;

import io.troupe.console.http.ApiException;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/** The explanations of a run's steps, as {@code troupe explain} has them. */
public interface StepExplanations {
  /** No explanation, of a run that has no journal here. */
  StepExplanations NONE =
      _ -> {
        throw new ApiException(404, "this run has no journal here that could explain a step");
      };

  /**
   * Explains the completions of a step's batch, in the order of the batch; callers do not change
   * the maps.
   *
   * @throws ApiException if the run has no such step, or it cannot be explained
   */
  List<Map<String, Object>> of(long step) throws ApiException, IOException;
}
