package io.troupe.serve.model;

import io.troupe.base.failure.Causes;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.protocol.WeightTag;
import io.troupe.engine.safetensors.PeftFolder;
import io.troupe.engine.safetensors.TensorDigest;
import io.troupe.engine.weights.Adapter;
import io.troupe.engine.weights.WeightSnapshot;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionException;

/**
 * Adapters that are served beside the base weights, each under its own name.
 *
 * <p>An engine samples with one set of weights, so each adapter is merged when it is loaded, and
 * has its own engine. That engine holds a copy of all weights, and samples exactly what an engine
 * with the merged weights would. No adapter is evicted automatically: a load beyond the capacity is
 * refused, and so is the unload of an adapter that a request uses.
 */
public final class ServedAdapters implements AutoCloseable {
  /** A loaded adapter, and the requests that use it. */
  private static final class Loaded {
    private final SamplingEngine engine;
    private final Path folder;
    private int uses; // guarded by the adapters

    Loaded(SamplingEngine engine, Path folder) {
      this.engine = engine;
      this.folder = folder;
    }
  }

  /** The right to sample with an adapter's engine, for as long as a request lasts. */
  public record AdapterUse(SamplingEngine engine, Runnable end) implements AutoCloseable {
    @Override
    public void close() {
      end.run();
    }
  }

  private final AdapterCapacity room;
  private final Map<String, Loaded> loaded = new LinkedHashMap<>(); // guarded by this
  private final Set<String> coming = new HashSet<>(); // guarded by this

  /** No adapter, and capacity for those that clients load. */
  public ServedAdapters(AdapterCapacity room) {
    this.room = room;
  }

  /** Whether this server can load adapters. */
  public boolean offered() {
    return room.most() > 0;
  }

  /** Names of the loaded adapters, oldest first. */
  public synchronized List<String> names() {
    return List.copyOf(loaded.keySet());
  }

  /** Source folders of the loaded adapters by name, oldest first. */
  public synchronized Map<String, Path> folders() {
    Map<String, Path> folders = new LinkedHashMap<>();
    loaded.forEach((name, one) -> folders.put(name, one.folder));
    return folders;
  }

  /** Engines of the loaded adapters. */
  public synchronized List<SamplingEngine> engines() {
    return loaded.values().stream().map(one -> one.engine).toList();
  }

  /**
   * The engine of the served model or of an adapter; an adapter stays loaded until the use is
   * closed.
   *
   * @throws HttpErrorException if the adapter was unloaded meanwhile
   */
  public synchronized AdapterUse use(String name, ServedModel served) throws HttpErrorException {
    if (name.equals(served.model())) {
      return new AdapterUse(served.engine(), () -> {});
    }
    Loaded one =
        Optional.ofNullable(loaded.get(name))
            .orElseThrow(
                () ->
                    HttpErrorException.of(
                        404, "NotFoundError", "the model `%s` was unloaded".formatted(name)));
    one.uses++;
    return new AdapterUse(one.engine, () -> end(one));
  }

  private synchronized void end(Loaded one) {
    one.uses--;
  }

  /**
   * Merges an adapter into the served weights and serves the result.
   *
   * @param taken the name of the model, which no adapter may have
   * @throws HttpErrorException if there is no room, the name is taken, the adapter does not fit the
   *     weights, or the engine has too little memory for it
   */
  public void load(String name, Path folder, WeightSnapshot base, String taken)
      throws HttpErrorException {
    reserve(name, taken);
    Optional<SamplingEngine> engine = Optional.empty();
    try {
      Adapter adapter = PeftFolder.read(folder);
      List<WeightSnapshot.Tensor> tensors = adapter.addedTo(base.tensors());
      SamplingEngine made = room.engines().get();
      engine = Optional.of(made);
      made.load(
              new WeightSnapshot(
                  WeightTag.parse(name).map(WeightTag::version).orElse(base.version()),
                  TensorDigest.of(tensors),
                  tensors))
          .toCompletableFuture()
          .join();
      keep(name, new Loaded(made, folder));
      engine = Optional.empty();
    } catch (IOException | IllegalArgumentException unfit) {
      throw HttpErrorException.bad("lora_path", notLoaded(name, unfit));
    } catch (CompletionException failed) {
      Throwable cause = Causes.of(failed);
      throw cause instanceof IllegalArgumentException
          ? HttpErrorException.bad("lora_path", notLoaded(name, cause))
          : HttpErrorException.of(500, "InternalServerError", notLoaded(name, cause));
    } finally {
      engine.ifPresent(SamplingEngine::close);
      release(name);
    }
  }

  private static String notLoaded(String name, Throwable why) {
    return "the adapter %s is not loaded: %s".formatted(name, why.getMessage());
  }

  private synchronized void reserve(String name, String taken) throws HttpErrorException {
    if (name.isBlank() || name.equals(taken)) {
      throw HttpErrorException.bad(
          "lora_name", "an adapter has a name of its own, not '%s'".formatted(name));
    }
    if (loaded.containsKey(name) || coming.contains(name)) {
      throw HttpErrorException.bad("lora_name", "the adapter %s is loaded already".formatted(name));
    }
    if (loaded.size() + coming.size() >= room.most()) {
      throw HttpErrorException.bad(
          "lora_name",
          "there is room for %d adapters, and %s are loaded; unload one, or start with more"
                  .formatted(room.most(), loaded.keySet())
              + " --max-adapters");
    }
    coming.add(name);
  }

  private synchronized void keep(String name, Loaded one) {
    loaded.put(name, one);
  }

  private synchronized void release(String name) {
    coming.remove(name);
  }

  /**
   * Unloads an adapter.
   *
   * @throws HttpErrorException if there is no adapter of that name, or a request uses it
   */
  public void unload(String name) throws HttpErrorException {
    removed(name).engine.close();
  }

  private synchronized Loaded removed(String name) throws HttpErrorException {
    Optional<Loaded> one = Optional.ofNullable(loaded.get(name));
    if (one.isEmpty()) {
      throw HttpErrorException.of(
          404, "NotFoundError", "the adapter %s is not loaded".formatted(name));
    }
    if (one.get().uses > 0) {
      throw HttpErrorException.of(
          409, "Conflict", "%d requests use the adapter %s".formatted(one.get().uses, name));
    }
    loaded.remove(name);
    return one.get();
  }

  /** Closes all engines of adapters; open requests fail. */
  @Override
  public void close() {
    List<SamplingEngine> all = new ArrayList<>(engines());
    synchronized (this) {
      loaded.clear();
    }
    all.forEach(SamplingEngine::close);
  }
}
