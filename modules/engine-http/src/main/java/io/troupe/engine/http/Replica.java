package io.troupe.engine.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.http.Wire.Answer;
import io.troupe.engine.http.protocol.Dialect;
import io.troupe.engine.http.protocol.Draw;
import io.troupe.engine.http.protocol.Fields;
import io.troupe.engine.http.protocol.MalformedAnswerException;
import io.troupe.engine.http.protocol.Piece;
import io.troupe.engine.http.protocol.VersionSpan;
import io.troupe.engine.http.protocol.WeightTag;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One server of a fleet: carries out the steps of an update. Its methods block; one thread at a
 * time calls them.
 */
final class Replica implements AutoCloseable {
  private static final Duration CALL = Duration.ofSeconds(60);
  private static final Duration READ = Duration.ofMinutes(10);

  private final String name;
  private final Wire wire;
  private final int probeToken;
  private final Optional<Restarter> restarter;
  private final Publishing publishing;
  private final LoadedAdapters adapters;
  private volatile Optional<Capabilities> capabilities = Optional.empty();
  private volatile Optional<WeightTag> weights = Optional.empty();
  private volatile boolean updating;
  private final AtomicInteger requests = new AtomicInteger();
  private final Object idle = new Object();

  /** Starts the server anew with weights; true once it serves. */
  @FunctionalInterface
  interface Restarter {
    boolean restart(Path weights) throws InterruptedException;
  }

  /**
   * A server.
   *
   * @param restarter none where it must not be started anew for new weights
   */
  Replica(
      String name,
      Wire wire,
      int probeToken,
      Optional<Restarter> restarter,
      Publishing publishing) {
    this.name = name;
    this.wire = wire;
    this.probeToken = probeToken;
    this.restarter = restarter;
    this.publishing = publishing;
    this.adapters = new LoadedAdapters(wire);
  }

  String name() {
    return name;
  }

  Wire wire() {
    return wire;
  }

  /** Draws of ours that it has. */
  int requests() {
    return requests.get();
  }

  /**
   * Starts a draw.
   *
   * @param sinceNanos when its completions were first asked for
   */
  DrawCall draw(Dialect dialect, Draw draw, long sinceNanos, ScheduledExecutorService clock) {
    requests.incrementAndGet();
    boolean adapted = !draw.adapter().isEmpty();
    if (adapted) {
      adapters.began(draw.adapter());
    }
    DrawCall call = wire.draw(dialect, draw, sinceNanos, this::isUpdating, clock);
    var _ =
        call.result()
            .whenComplete(
                (_, _) -> {
                  if (adapted) {
                    adapters.ended(draw.adapter());
                  }
                  if (requests.decrementAndGet() == 0) {
                    synchronized (idle) {
                      idle.notifyAll();
                    }
                  }
                });
    return call;
  }

  /** Requests end by their own deadline; one that comes in late is refused, and asked again. */
  private Optional<String> awaitIdle() throws InterruptedException {
    long end = System.nanoTime() + wire.endpoint().patience().total().toNanos();
    synchronized (idle) {
      while (requests.get() > 0) {
        long left = (end - System.nanoTime()) / 1_000_000;
        if (left <= 0) {
          return Optional.of("%d requests do not end".formatted(requests.get()));
        }
        idle.wait(left);
      }
    }
    return Optional.empty();
  }

  /** Whether new weights may cost it its life. */
  boolean mayRestart() {
    return restarter.isPresent();
  }

  /** What it gets of each version. */
  Publishing publishing() {
    return publishing;
  }

  /** The adapter to ask for, of weights that it draws with; empty for the model as it is. */
  String adapter(WeightTag asked) {
    return publishing == Publishing.ADAPTERS ? asked.toString() : "";
  }

  private UpdateWay way(Capabilities can) {
    UpdateWay best = can.updateWay(publishing);
    return best == UpdateWay.NONE && mayRestart() ? UpdateWay.RESTART : best;
  }

  /** What it can do; found out again after {@link #forget}. */
  Capabilities capabilities() throws InterruptedException {
    if (capabilities.isEmpty()) {
      resumeIfPaused(); // or it would hold the probe's draws for good
      capabilities = Optional.of(CapabilityProbe.probe(wire));
    }
    return capabilities.orElseThrow();
  }

  Optional<Capabilities> known() {
    return capabilities;
  }

  /** It may be another process by now. */
  void forget() {
    adapters.forget();
    capabilities = Optional.empty();
    weights = Optional.empty();
  }

  /** The weights that it is known to draw with. */
  Optional<WeightTag> weights() {
    return weights;
  }

  /** Whether it is being paused or updated, so that its tokens may stall. */
  boolean isUpdating() {
    return updating;
  }

  /**
   * Moves the server to weights.
   *
   * @return what it came to: never {@link Update.Next.Do}
   */
  Update.Next update(WeightTag tag, Path directory) throws InterruptedException {
    Capabilities can = capabilities();
    if (publishing == Publishing.MERGED
        && can.has(Capability.WEIGHT_NAME)
        && named(can).equals(tag.toString())) {
      resumeIfPaused();
      Update.Next tried = carryOut(Update.lastOf(way(can)), tag, directory, can);
      weights = tried instanceof Update.Next.Moved ? Optional.of(tag) : Optional.empty();
      return tried;
    }
    updating = true;
    try {
      Update.Next end = carryOut(Update.begin(way(can)), tag, directory, can);
      if (end instanceof Update.Next.Moved) {
        weights = Optional.of(tag);
        adapters.unloadUnused(tag.toString(), can.dialect());
      } else if (end instanceof Update.Next.Broken) {
        weights = Optional.empty();
      }
      return end;
    } finally {
      updating = false;
    }
  }

  private Update.Next carryOut(Update begun, WeightTag tag, Path directory, Capabilities can)
      throws InterruptedException {
    Update update = begun;
    while (update.next() instanceof Update.Next.Do(UpdateStep step)) {
      update = update.started(step);
      Optional<String> failure;
      try {
        failure = take(step, tag, directory, can);
      } catch (EndpointException broken) {
        failure = Optional.of(broken.fault().toString());
      }
      update = failure.isEmpty() ? update.succeeded() : update.failed(failure.get());
    }
    return update.next();
  }

  /** Takes one step; says what went wrong, if anything. */
  private Optional<String> take(UpdateStep step, WeightTag tag, Path directory, Capabilities can)
      throws InterruptedException {
    boolean sglang = can.dialect() == Dialect.SGLANG;
    return switch (step) {
      case PAUSE ->
          fault(
              sglang
                  ? wire.post("/pause_generation", Fields.object().put("mode", "retract"), CALL)
                  : wire.post("/pause?mode=keep&clear_cache=true", Fields.object(), CALL));
      case DRAIN -> awaitIdle();
      case READ -> read(tag, directory, can);
      case LOAD -> adapters.load(tag.toString(), directory, can.dialect());
      case RESTART ->
          restarter.orElseThrow().restart(directory)
              ? Optional.empty()
              : Optional.of("started with %s it does not come to serve".formatted(directory));
      case NAME ->
          fault(
              wire.post(
                  "/update_weight_version",
                  Fields.object().put("new_version", tag.toString()),
                  CALL));
      case CONFIRM -> {
        String told = named(can);
        yield told.equals(tag.toString())
            ? Optional.empty()
            : Optional.of("it names its weights '%s', not %s".formatted(told, tag));
      }
      case RESUME ->
          fault(wire.post(sglang ? "/continue_generation" : "/resume", Fields.object(), CALL));
      case TRY -> tryOut(tag, can);
    };
  }

  private Optional<String> read(WeightTag tag, Path directory, Capabilities can)
      throws InterruptedException {
    ObjectNode body = Fields.object();
    if (can.has(Capability.UPDATE_FROM_DISK)) {
      body.put("model_path", directory.toString())
          .put("weight_version", tag.toString())
          .put("abort_all_requests", false)
          .put("flush_cache", true);
      Answer answer = wire.post("/update_weights_from_disk", body, READ);
      return answer.ok() && !answer.json().path("success").asBoolean(true)
          ? Optional.of(answer.json().path("message").asText("success=false"))
          : fault(answer);
    }
    body.put("method", "reload_weights").put("timeout", (double) READ.toSeconds());
    body.putObject("kwargs").put("weights_path", directory.toString());
    return fault(wire.post("/collective_rpc", body, READ));
  }

  private String named(Capabilities can) throws InterruptedException {
    String route = can.dialect() == Dialect.SGLANG ? "/get_weight_version" : "/weight_info";
    return wire.get(route, CALL).json().path("weight_version").asText("");
  }

  /** Who crashed between pause and resume left the server paused. */
  private void resumeIfPaused() throws InterruptedException {
    if (wire.get("/is_paused", CALL).json().path("is_paused").asBoolean(false)) {
      wire.post("/resume", Fields.object(), CALL);
    }
  }

  private Optional<String> tryOut(WeightTag tag, Capabilities can) throws InterruptedException {
    Draw draw =
        new Draw(
            "try-" + tag,
            can.model(),
            new int[] {probeToken},
            1,
            new SamplingSettings(1, 1),
            1,
            1,
            tag.toString(),
            Duration.ZERO,
            adapter(tag));
    Answer answer =
        wire.post(can.dialect().codec().path(), can.dialect().codec().body(draw, false), CALL);
    if (!answer.ok()) {
      return fault(answer);
    }
    try {
      Piece piece = can.dialect().codec().pieces(Fields.parse(answer.body())).getFirst();
      if (piece.tokens().length != 1
          || piece.logProbs().length != 1
          || !Double.isFinite(piece.logProbs()[0])) {
        return Optional.of("a token drawn for trial has no finite log-probability");
      }
      if (publishing == Publishing.ADAPTERS) {
        return piece.model().isEmpty() || piece.model().equals(tag.toString())
            ? Optional.empty()
            : Optional.of(
                "a token drawn for trial is of '%s', not of the adapter %s"
                    .formatted(piece.model(), tag));
      }
      return piece.versions().stream()
          .map(VersionSpan::tag)
          .filter(told -> !told.equals(tag.toString()))
          .findFirst()
          .map(told -> "a token drawn for trial is of weights '%s', not %s".formatted(told, tag));
    } catch (MalformedAnswerException malformed) {
      return Optional.of(String.valueOf(malformed.getMessage()));
    }
  }

  private static Optional<String> fault(Answer answer) {
    return answer.ok() ? Optional.empty() : Optional.of(answer.fault().toString());
  }

  @Override
  public void close() {
    wire.close();
  }
}
