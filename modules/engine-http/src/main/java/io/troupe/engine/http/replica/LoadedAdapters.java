package io.troupe.engine.http.replica;

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

/**
 * The adapters that one server was given, each under the name of its weights, and the requests that
 * use them. A request names its adapter, so it ends with the weights it began with, while others
 * begin with newer ones; an adapter that no request uses any more is unloaded after the next
 * update. So is one that an earlier sampler of this run has left: what tells it from another run's
 * is the folder that it was loaded from.
 */
public final class LoadedAdapters {
  private static final Duration CALL = Duration.ofMinutes(2);

  /** New weights wait for it. */
  private static final Duration UNLOAD = Duration.ofSeconds(10);

  private static final int NO_SUCH_THING = 404;

  private final InferenceClient wire;
  private final Map<String, Integer> uses = new HashMap<>(); // by name; guarded by this
  private final SequencedSet<String> there = new LinkedHashSet<>(); // surely; guarded by this
  private boolean looked; // whether for those of an earlier sampler; of who makes updates

  public LoadedAdapters(InferenceClient wire) {
    this.wire = wire;
  }

  /** A request that names an adapter begins. */
  synchronized void began(String name) {
    uses.merge(name, 1, Integer::sum);
  }

  /** It ended. */
  synchronized void ended(String name) {
    uses.merge(name, -1, Integer::sum);
  }

  /** The server may be another process: nobody knows what it has. */
  synchronized void doubt() {
    there.clear();
  }

  /** One that the server must have beside another, the latest; none if it need not have any. */
  synchronized Optional<String> loadedBefore(String name) {
    return there.reversed().stream().filter(other -> !other.equals(name)).findFirst();
  }

  /** Loads one; says what went wrong, if anything. */
  public Optional<String> load(String name, Path folder, Dialect dialect)
      throws InterruptedException {
    if (!looked) {
      adopt(folder);
    }
    ObjectNode body =
        JsonFields.object().put("lora_name", name).put("lora_path", folder.toString());
    synchronized (this) {
      uses.putIfAbsent(name, 0); // a call that fails may load it all the same
    }
    Response answer = wire.post(route("load_lora_adapter", dialect), body, CALL);
    String said = answer.ok() ? failure(answer) : answer.fault().toString();
    // The name holds the digest: an adapter of that name is this one.
    if (said.isEmpty() || said.toLowerCase(Locale.ROOT).contains("already")) {
      synchronized (this) {
        there.addLast(name);
      }
      return Optional.empty();
    }
    Unloaded _ = unloadUnused(name, dialect); // they may take the room that the next try needs
    return Optional.of(said);
  }

  /** Takes those that were loaded from beside a folder for unused ones of this sampler. */
  private void adopt(Path folder) throws InterruptedException {
    Response answer = wire.get("/v1/models", CALL);
    synchronized (this) {
      for (JsonNode model : answer.json().path("data")) {
        String name = model.path("id").asText("");
        if (model.path("root").asText("").equals(folder.resolveSibling(name).toString())) {
          uses.putIfAbsent(name, 0);
        }
      }
    }
    looked = answer.ok();
  }

  private static String failure(Response answer) {
    return answer.json().path("success").asBoolean(true)
        ? ""
        : answer.json().path("error_message").asText("success=false");
  }

  /**
   * What came of unloading.
   *
   * @param kept those that the server did not let go; they are asked for again with the next update
   * @param lost those that it had to have and did not know, as one that was started anew
   */
  record Unloaded(List<String> kept, List<String> lost) {}

  /** Unloads those that nobody uses but one. */
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
      surely = unused.stream().filter(there::contains).toList();
      unused.forEach(uses::remove);
      unused.forEach(there::remove);
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
