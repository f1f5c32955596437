package io.troupe.run.console;

import io.troupe.console.process.JvmReport;
import io.troupe.verifiers.pool.VerifierService;
import java.util.List;
import java.util.Locale;

/** The verifiers of a process, as the console shows them. */
final class VerifierRows {
  private VerifierRows() {}

  /**
   * Returns the rows of all verifiers of a service.
   *
   * @param jvm the process they are in; "" for the coordinator
   */
  static List<JvmReport.VerifierReport> of(VerifierService service, String jvm) {
    return service.places().stream()
        .map(
            place ->
                new JvmReport.VerifierReport(
                    jvm.isEmpty() ? place.name() : jvm + "/" + place.name(),
                    place.verifier(),
                    place.doing().name().toLowerCase(Locale.ROOT),
                    place.judged()))
        .toList();
  }
}
