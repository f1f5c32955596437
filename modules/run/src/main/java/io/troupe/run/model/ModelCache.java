package io.troupe.run.model;

import io.troupe.base.cache.CompletionMarker;
import io.troupe.base.cache.SharedFolders;
import io.troupe.base.files.FileTree;
import io.troupe.config.task.DataSection;
import io.troupe.net.http.HttpDownload.Patience;
import io.troupe.runtime.TrainerTasks;
import io.troupe.store.s3.S3Folders;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * A folder of fetched models, which all runs of a machine share, as data sets are: cache first,
 * then S3, then the hub. What a fetch brought stays when it fails, and the next one continues; the
 * model appears in the cache when it is whole.
 */
public final class ModelCache {
  private static final String CONFIG = "config.json";

  private final Path root;
  private final DataSection data;
  private final HubModel.HubAccess hub;
  private final Consumer<String> say;

  /**
   * A model in the cache.
   *
   * @param name as {@code policy.checkpoint} would name it, or its folder in the cache
   * @param commit of the hub; empty if it is from elsewhere
   * @param bytes of its files
   */
  public record Cached(String name, Path folder, String commit, long bytes) {}

  /**
   * A folder that describes a model.
   *
   * @param whole whether it has the weights, too
   */
  public record Description(Path folder, boolean whole) {}

  ModelCache(Path root, DataSection data, HubModel.HubAccess hub, Consumer<String> say) {
    this.root = root;
    this.data = data;
    this.hub = hub;
    this.say = say;
  }

  /** The cache of this machine, filled as {@code data} and the environment say. */
  public static ModelCache of(DataSection data, Consumer<String> say) {
    Map<String, String> environment = System.getenv();
    String home = environment.getOrDefault("TROUPE_CACHE", "");
    Path root =
        home.isEmpty()
            ? Path.of(System.getProperty("user.home"), ".cache", "troupe")
            : Path.of(home);
    return new ModelCache(
        root.resolve("models").toAbsolutePath().normalize(),
        data,
        new HubModel.HubAccess(
            environment.getOrDefault("HF_ENDPOINT", "https://huggingface.co"),
            environment.getOrDefault("HF_TOKEN", ""),
            Patience.USUAL),
        say);
  }

  /**
   * Returns the folder of a model, and fetches the model if it is not in the cache.
   *
   * @param name as {@code policy.checkpoint} has it
   * @throws IOException if no place has it; names the places searched, and what to do
   */
  public Path folder(String name) throws IOException {
    ModelName model = ModelName.parse(name);
    if (model instanceof ModelName.Folder(Path path)) {
      return policyIn(path);
    }
    Path folder = root.resolve(model.cached());
    return new SharedFolders("fetched", say)
        .get(folder, "model " + model, () -> fetch(model, folder, ModelOrigin.Part.ALL));
  }

  /**
   * Returns what describes a model. Its weights are not fetched, so that a machine may plan for a
   * model that it could not hold.
   *
   * @param name as {@code policy.checkpoint} has it
   * @throws IOException as {@link #folder} does
   */
  public Description description(String name) throws IOException {
    ModelName model = ModelName.parse(name);
    Path whole = cachedFolder(name);
    if (model instanceof ModelName.Folder || CompletionMarker.isWhole(whole)) {
      return new Description(whole, true);
    }
    Path folder = root.resolve("descriptions").resolve(model.cached());
    return new Description(
        new SharedFolders("fetched", say)
            .get(
                folder,
                "description of " + model,
                () -> fetch(model, folder, ModelOrigin.Part.DESCRIPTION)),
        false);
  }

  /** Returns the folder that a model has once it is in the cache; a folder is itself. */
  public Path cachedFolder(String name) {
    return switch (ModelName.parse(name)) {
      case ModelName.Folder(Path path) -> policyIn(path);
      case ModelName model -> root.resolve(model.cached());
    };
  }

  /** The policy in a checkpoint of a run; any other folder is itself. */
  private static Path policyIn(Path folder) {
    Path policy = folder.resolve(TrainerTasks.POLICY_FOLDER);
    boolean nested = !Files.exists(folder.resolve(CONFIG)) && Files.exists(policy.resolve(CONFIG));
    return nested ? policy : folder;
  }

  private List<ModelOrigin> origins(ModelName model) {
    S3Folders s3 = new S3Folders(data.s3().settings());
    List<ModelOrigin> origins = new ArrayList<>();
    switch (model) {
      case ModelName.Folder _ -> {}
      case ModelName.ObjectStore(String address) -> origins.add(new ObjectStoreModel(s3, address));
      case ModelName.Repository repository -> {
        String mirror = data.s3().s3Models().replaceAll("/+$", "");
        // A mirror has one revision of a model.
        if (!mirror.isEmpty() && repository.revision().equals(ModelName.MAIN)) {
          origins.add(new ObjectStoreModel(s3, mirror + "/" + repository.folder()));
        }
        if (data.hub()) {
          origins.add(new HubModel(repository, hub, say));
        }
      }
    }
    return origins;
  }

  private void fetch(ModelName model, Path folder, ModelOrigin.Part wanted) throws IOException {
    List<String> failures = new ArrayList<>();
    for (ModelOrigin origin : origins(model)) {
      Path part = folder.resolveSibling(folder.getFileName() + ".part-" + origin.key());
      Files.createDirectories(part);
      try {
        if (origin.fetch(part, wanted)) {
          CompletionMarker.write(part);
          FileTree.replace(folder, part);
          forgetParts(folder);
          return;
        }
        failures.add(origin.place() + ": not there");
        FileTree.delete(part);
      } catch (IOException failure) {
        failures.add("%s: %s".formatted(origin.place(), failure.getMessage()));
      }
    }
    throw nowhere(model, folder, failures);
  }

  private static void forgetParts(Path folder) throws IOException {
    for (String key : List.of("s3", "hub")) {
      FileTree.delete(folder.resolveSibling(folder.getFileName() + ".part-" + key));
    }
  }

  private static IOException nowhere(ModelName model, Path folder, List<String> failures) {
    StringBuilder text = new StringBuilder("model %s is not to be had:".formatted(model));
    text.append("\n  %s: not in the cache".formatted(folder));
    failures.forEach(failure -> text.append("\n  ").append(failure));
    if (failures.isEmpty()) {
      text.append("\n  nowhere else: data.hub is false, and data.s3_models names no place");
    }
    return new IOException(
        text.append(
                "\nrun `troupe models fetch %s` again, which continues; or fetch its files where there is a network, and name their folder in policy.checkpoint"
                    .formatted(model))
            .toString());
  }

  /**
   * The whole models of the cache, by folder. One that another process replaces or deletes
   * meanwhile is left out.
   */
  public List<Cached> list() throws IOException {
    List<Cached> models = new ArrayList<>();
    for (Path folder : folders(root)) {
      addWhole(folder, models);
      for (Path within : folders(folder)) {
        addWhole(within, models);
      }
    }
    return models;
  }

  private static List<Path> folders(Path parent) throws IOException {
    try (Stream<Path> children = Files.list(parent)) {
      return children.filter(Files::isDirectory).sorted().toList();
    } catch (NoSuchFileException absent) {
      return List.of();
    }
  }

  private void addWhole(Path folder, List<Cached> models) throws IOException {
    try {
      if (CompletionMarker.isWhole(folder)) {
        models.add(cached(folder));
      }
    } catch (NoSuchFileException replaced) {
      // Another process fetches the model again, or deletes it.
    }
  }

  private Cached cached(Path folder) throws IOException {
    Path within = root.relativize(folder);
    Path commit = folder.resolve(HubModel.COMMIT);
    boolean ofHub = Files.exists(commit);
    String revision = String.valueOf(within.getFileName());
    String repository = within.getName(0).toString().replaceFirst("--", "/");
    String name = new ModelName.Repository(repository, revision).toString();
    return new Cached(
        within.startsWith("s3") ? within.toString() : name,
        folder,
        ofHub ? Files.readString(commit) : "",
        bytes(folder));
  }

  private static long bytes(Path folder) throws IOException {
    long bytes = 0;
    for (Path file : FileTree.files(folder)) {
      bytes += Files.size(file);
    }
    return bytes;
  }
}
