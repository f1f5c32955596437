package io.troupe.verifiers.pool;

import java.util.List;
import java.util.Optional;

/** Operations on all services of a service that consists of several. */
final class CompositeService {
  private CompositeService() {}

  /** The verifiers of all services, each once. */
  static List<VerifierSlot> places(List<VerifierService> services) {
    return services.stream().flatMap(service -> service.places().stream()).distinct().toList();
  }

  /** The service that contains a verifier. */
  static Optional<VerifierService> serviceWith(List<VerifierService> services, String place) {
    return services.stream()
        .filter(service -> service.places().stream().anyMatch(one -> one.name().equals(place)))
        .findFirst();
  }
}
