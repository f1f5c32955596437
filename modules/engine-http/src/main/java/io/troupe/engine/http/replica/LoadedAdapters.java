package io.troupe.engine.http.replica;

import static java.util.stream.Collectors.toSet;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.http.client.InferenceCallException;
import io.troupe.engine.http.client.InferenceClient;
import io.troupe.engine.http.client.InferenceClient.Response;
import io.troupe.engine.http.protocol.Dialect;
import io.troupe.engine.protocol.JsonFields;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedSet;
import java.util.Set;

/**
 * The adapters that one server has loaded, each under the name of its weights, and the number of
 * requests that use each of them. A request names its adapter, so it ends with the weights that it
 * began with, while other requests begin with newer ones. The next update unloads every adapter
 * that no request uses. An adapter of an earlier sampler of this run is unloaded too; the folder
 * that it was loaded from distinguishes it from another run's.
 */
public final class LoadedAdapters {
  private static final Duration CALL = Duration.ofMinutes(2);

  /** Short, because new weights wait for an unloading. */
  private static final Duration UNLOAD = Duration.ofSeconds(10);

  private static final int NO_SUCH_THING = 404;
  private static final String MODELS = "/v1/models";

  private final InferenceClient wire;
  private final Map<String, Integer> uses = new HashMap<>(); // by name; guarded by this
  private final SequencedSet<String> loaded = new LinkedHashSet<>(); // guarded by this
  private boolean adopted; // an earlier sampler's; of the thread that makes updates
  private Optional<Set<String>> inAnswer = Optional.empty(); // of the thread that makes updates

  public LoadedAdapters(InferenceClient wire) {
    this.wire = wire;
  }

  /** Notes that a request with an adapter begins. */
  synchronized void began(String name) {
    uses.merge(name, 1, Integer::sum);
  }

  /** Notes that a request with an adapter ended. */
  synchronized void ended(String name) {
    uses.merge(name, -1, Integer::sum);
  }

  /** Forgets what is loaded, because the server may be another process. */
  synchronized void doubt() {
    loaded.clear();
  }

  /** Returns the latest adapter that the server must still have beside a newer one. */
  private synchronized Optional<String> loadedBefore(String name) {
    return loaded.reversed().stream().filter(other -> !other.equals(name)).findFirst();
  }

  /**
   * Returns the reason why the server's list is not as it must be: it has to hold the adapter that
   * was just loaded, and the one before it, which only a restart takes away unasked. SGLang lists
   * its adapters in the answer to a loading; where it does not, a sample with the adapter has to
   * do, because it refuses unknown names.
   */
  Optional<String> missing(String name, Dialect dialect) throws InterruptedException {
    Optional<Set<String>> listed = inAnswer;
    if (dialect != Dialect.SGLANG) {
      Response answer = wire.get(MODELS, CALL);
      if (!answer.ok()) {
        return Optional.of(answer.fault().toString());
      }
      listed = Optional.of(Set.copyOf(answer.json().path("data").findValuesAsText("id")));
    }
    if (listed.isEmpty()) {
      return Optional.empty();
    }
    Set<String> names = listed.get();
    return names.contains(name)
        ? loadedBefore(name)
            .filter(earlier -> !names.contains(earlier))
            .map(
                earlier ->
                    "it no longer lists the adapter %s; it was restarted, and is checked again"
                        .formatted(earlier))
        : Optional.of("it does not list the adapter %s that it was asked to load".formatted(name));
  }

  /** Loads an adapter; returns the reason of a failure. */
  public Optional<String> load(String name, Path folder, Dialect dialect)
      throws InterruptedException {
    if (!adopted) {
      adopt(folder);
    }
    ObjectNode body =
        JsonFields.object().put("lora_name", name).put("lora_path", folder.toString());
    synchronized (this) {
      uses.putIfAbsent(name, 0); // a call that fails may load it all the same
    }
    inAnswer = Optional.empty();
    Response answer = wire.post(route("load_lora_adapter", dialect), body, CALL);
    JsonNode listed = answer.json().path("loaded_adapters");
    if (listed.isObject()) {
      inAnswer = Optional.of(listed.properties().stream().map(Map.Entry::getKey).collect(toSet()));
    }
    String said = answer.ok() ? failure(answer) : answer.fault().toString();
    // An adapter of that name is this one, because the name holds its digest.
    if (said.isEmpty() || said.toLowerCase(Locale.ROOT).contains("already")) {
      synchronized (this) {
        loaded.addLast(name);
      }
      return Optional.empty();
    }
    Unloaded _ = unloadUnused(name, dialect); // the next attempt may need their room
    return Optional.of(said);
  }

  /** Counts adapters that were loaded from this folder's siblings as unused ones of this run. */
  private void adopt(Path folder) throws InterruptedException {
    Response answer = wire.get(MODELS, CALL);
    synchronized (this) {
      for (JsonNode model : answer.json().path("data")) {
        String name = model.path("id").asText("");
        if (model.path("root").asText("").equals(folder.resolveSibling(name).toString())) {
          uses.putIfAbsent(name, 0);
        }
      }
    }
    adopted = answer.ok();
  }

  private static String failure(Response answer) {
    return answer.json().path("success").asBoolean(true)
        ? ""
        : answer.json().path("error_message").asText("success=false");
  }

  /**
   * The outcome of an unloading.
   *
   * @param kept adapters that the server did not unload; the next update asks again
   * @param lost adapters that the server had and does not know now, as after a restart
   */
  record Unloaded(List<String> kept, List<String> lost) {}

  /** Unloads every adapter that no request uses, except the current one. */
  Unloaded unloadUnused(String current, Dialect dialect) throws InterruptedException {
    List<String> unused;
    List<String> surely;
    synchronized (this) {
      unused =
          uses.entrySet().stream()
              .filter(entry -> entry.getValue() == 0 && !entry.getKey().equals(current))
              .map(Map.Entry::getKey)
              .sorted()
              .toList();
      surely = unused.stream().filter(loaded::contains).toList();
      unused.forEach(uses::remove);
      unused.forEach(loaded::remove);
    }
    List<String> kept = new ArrayList<>();
    List<String> lost = new ArrayList<>();
    for (String name : unused) {
      switch (unload(name, dialect)) {
        case GONE -> {}
        case KEPT -> kept.add(name);
        case UNKNOWN -> {
          if (surely.contains(name)) {
            lost.add(name);
          }
        }
      }
    }
    synchronized (this) {
      kept.forEach(name -> uses.putIfAbsent(name, 0));
    }
    return new Unloaded(kept, lost);
  }

  private enum Unloading {
    GONE,
    KEPT,
    UNKNOWN
  }

  private Unloading unload(String name, Dialect dialect) throws InterruptedException {
    ObjectNode body = JsonFields.object().put("lora_name", name);
    try {
      Response answer = wire.post(route("unload_lora_adapter", dialect), body, UNLOAD);
      if (answer.ok()) {
        return Unloading.GONE;
      }
      String said = answer.fault().message().toLowerCase(Locale.ROOT);
      return answer.status() == NO_SUCH_THING
              || said.contains("not loaded")
              || said.contains("does not exist")
          ? Unloading.UNKNOWN
          : Unloading.KEPT;
    } catch (InferenceCallException away) {
      return Unloading.KEPT;
    }
  }

  private static String route(String name, Dialect dialect) {
    return (dialect == Dialect.SGLANG ? "/" : "/v1/") + name;
  }
}
