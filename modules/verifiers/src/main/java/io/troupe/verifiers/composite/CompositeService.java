package io.troupe.verifiers.composite;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.EpisodeText;
import io.troupe.verifiers.pool.PoolReport;
import io.troupe.verifiers.pool.TimedVerdict;
import io.troupe.verifiers.pool.VerifierService;
import io.troupe.verifiers.pool.VerifierSlot;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** A service that consists of other services, which it closes. */
interface CompositeService extends VerifierService {
  /** The services, each once. */
  List<VerifierService> services();

  @Override
  CompletionStage<TimedVerdict> judge(Prompt prompt, EpisodeText episode);

  /** Judges an answer without turns. */
  @Override
  default CompletionStage<TimedVerdict> judge(Prompt prompt, String completion) {
    return judge(prompt, EpisodeText.of(completion));
  }

  @Override
  default List<PoolReport> reports() {
    return services().stream().flatMap(service -> service.reports().stream()).toList();
  }

  /** The verifiers of all services, each once. */
  @Override
  default List<VerifierSlot> places() {
    return services().stream().flatMap(service -> service.places().stream()).distinct().toList();
  }

  @Override
  default Optional<String> quarantine(String place) {
    return serviceWith(place)
        .map(service -> service.quarantine(place))
        .orElseGet(() -> Optional.of(VerifierService.noSuch(place, places())));
  }

  @Override
  default Optional<String> release(String place) {
    return serviceWith(place)
        .map(service -> service.release(place))
        .orElseGet(() -> Optional.of(VerifierService.noSuch(place, places())));
  }

  private Optional<VerifierService> serviceWith(String place) {
    return services().stream()
        .filter(service -> service.places().stream().anyMatch(one -> one.name().equals(place)))
        .findFirst();
  }

  @Override
  default void close() {
    services().forEach(VerifierService::close);
  }
}
