package io.troupe.aws.sagemaker;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * A job as SageMaker shows it. Its words for states are kept as they are: there are more every
 * year.
 *
 * @param name of the job
 * @param state of the job
 * @param hosts of the job
 * @param times of the job
 */
record JobView(String name, JobState state, JobHosts hosts, JobTimes times) {
  /**
   * The progress of a job.
   *
   * @param status such as InProgress
   * @param phase such as Downloading
   * @param message about the phase
   * @param failure why it failed; empty unless it did
   */
  record JobState(String status, String phase, String message, String failure) {
    private static final Set<String> ENDS = Set.of("Completed", "Failed", "Stopped");
    private static final Set<String> NO_CAPACITY = Set.of("CapacityError", "InsufficientCapacity");

    /** Whether the job does nothing any more. */
    boolean ended() {
      return ENDS.contains(status);
    }

    boolean failed() {
      return status.equals("Failed");
    }

    /** The state as a sentence, with what to do about a failure. */
    String sentence() {
      if (!failed()) {
        return message.isEmpty()
            ? "%s (%s)".formatted(status, phase)
            : "%s (%s: %s)".formatted(status, phase, message);
      }
      boolean capacity = NO_CAPACITY.stream().anyMatch(failure::startsWith);
      return "Failed: %s%s"
          .formatted(
              failure,
              capacity
                  ? " (no such instances there now; submit it again later, or with another"
                      + " instance_type)"
                  : "");
    }
  }

  /**
   * Hosts of a job.
   *
   * @param submission of the job; empty if it was not made by this program
   */
  record JobHosts(String type, int count, String submission) {}

  /**
   * Times of a job.
   *
   * @param startMillis since 1970, when its containers started; 0 before
   * @param endMillis likewise of their end; 0 before
   * @param billableSeconds of each host; 0 until SageMaker says
   */
  record JobTimes(long startMillis, long endMillis, long billableSeconds) {
    /** Hours that each host is paid for, or was at work so far. */
    double hours(long nowMillis) {
      if (billableSeconds > 0) {
        return billableSeconds / 3600.0;
      }
      return startMillis == 0
          ? 0
          : ((endMillis == 0 ? nowMillis : endMillis) - startMillis) / 3.6e6;
    }
  }

  /**
   * The view for JSON.
   *
   * @param price USD per hour of all hosts
   */
  Map<String, Object> description(double price, long nowMillis) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("job", name);
    object.put("status", state.status());
    object.put("phase", state.phase());
    object.put("message", state.message());
    object.put("failure", state.failure());
    object.put("instance_type", hosts.type());
    object.put("instances", hosts.count());
    object.put("hours", times.hours(nowMillis));
    object.put("billed", times.billableSeconds() > 0);
    object.put("cost_usd", price * times.hours(nowMillis));
    return object;
  }

  /** The view for people. */
  String line(double price, long nowMillis) {
    return String.format(
        Locale.ROOT,
        "%s %s · %d × %s · %.2f h %s, %.2f USD by the price in the file",
        name,
        state.sentence(),
        hosts.count(),
        hosts.type(),
        times.hours(nowMillis),
        times.billableSeconds() > 0 ? "billed" : "so far",
        price * times.hours(nowMillis));
  }
}
