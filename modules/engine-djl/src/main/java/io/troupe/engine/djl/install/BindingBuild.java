package io.troupe.engine.djl.install;

import io.troupe.base.cache.CompletionMarker;
import io.troupe.base.cache.SharedFolders;
import io.troupe.base.files.FileTree;
import io.troupe.base.hash.Sha256;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Builds the binding of an installed PyTorch: compiles DJL's sources against its headers, links
 * them with its libraries, has the result checked, and puts it into the cache under its key.
 *
 * <p>Everything is made in a folder of its own beside its place and renamed at the end, so that a
 * build that is interrupted leaves no binding, and one that does not pass the check neither.
 *
 * @param torch to build for
 * @param cache that takes the binding
 * @param published sources
 * @param tools compiler and headers of this machine
 * @param jobs files that are compiled at a time
 * @param say takes a line for each step
 */
public record BindingBuild(
    InstalledTorch torch,
    BindingCache cache,
    BindingSources published,
    BuildTools tools,
    int jobs,
    Consumer<String> say) {
  /** The check that a new binding must pass before it is used. */
  @FunctionalInterface
  public interface Check {
    /**
     * Tries the binding that a folder holds as DJL's cache.
     *
     * @throws UnusableTorchException if it does not work
     */
    void run(Path engineCache) throws IOException;
  }

  private static final String BINDING_CLASS = "ai.djl.pytorch.jni.PyTorchLibrary";
  private static final List<String> STANDARD =
      List.of("-std=c++20", "-O1", "-fPIC", "-w", "-D_GLIBCXX_USE_CXX11_ABI=1");

  /**
   * Checks that this machine has what the build needs.
   *
   * @throws UnusableTorchException if something is missing; names all of it, and what to do
   */
  public void requireTools() {
    List<String> missing = new ArrayList<>(tools.missing());
    torch
        .missingLibraries()
        .forEach(
            file ->
                missing.add(
                    "%s: PyTorch's library is not there; install it again".formatted(file)));
    Path header = torch.headers().getLast().resolve("torch/all.h");
    if (!Files.isRegularFile(header)) {
      missing.add(
          "%s: PyTorch's C++ headers are not there; install the wheel of pip, which has them"
              .formatted(header));
    }
    if (!missing.isEmpty()) {
      throw new UnusableTorchException(
          "%s: its binding cannot be built here:\n  %s"
              .formatted(torch, String.join("\n  ", missing)));
    }
  }

  /**
   * Builds the binding if it is not there.
   *
   * @param archive of DJL's sources
   * @param again whether one that is there is replaced
   * @return folder of the binding
   * @throws UnusableTorchException if something is missing, or the compiler or the check fails
   */
  public Path build(Path archive, boolean again, Check check) throws IOException {
    requireTools();
    LibraryDigest library = cache.digest(torch);
    Path folder = cache.folder(torch.release(), library.sha256());
    requireWritable(cache.root());
    SharedFolders shared = new SharedFolders("built", say);
    return again
        ? shared.remade(folder, torch.toString(), () -> make(folder, library, archive, check))
        : shared.get(folder, torch.toString(), () -> make(folder, library, archive, check));
  }

  private static void requireWritable(Path root) throws IOException {
    try {
      Files.createDirectories(root);
      Files.delete(Files.createTempFile(root, ".writable", ""));
    } catch (IOException readOnly) {
      throw new UnusableTorchException(
          "%s: the cache cannot be written; set DJL_CACHE_DIR to a folder that can, for builds and runs"
              .formatted(root),
          readOnly);
    }
  }

  private void make(Path folder, LibraryDigest library, Path archive, Check check)
      throws IOException {
    Path work = Files.createTempDirectory(cache.root(), ".build-");
    try {
      Path made = compiled(work, library, archive);
      say.accept("checks the binding: loads it and makes a training step");
      check.run(work);
      FileTree.replace(folder, made);
    } finally {
      FileTree.delete(work);
    }
  }

  /** Makes the binding's folder within a folder that DJL can take for its cache. */
  private Path compiled(Path work, LibraryDigest library, Path archive) throws IOException {
    Path sources = Files.createDirectory(work.resolve("sources"));
    List<Path> files = published.unpack(archive, sources);
    Class<?> binding = bindingClass();
    Files.writeString(sources.resolve(JniHeader.name(binding)), JniHeader.of(binding));
    List<Path> objects = objects(files, sources);
    Path made =
        Files.createDirectories(
            work.resolve("pytorch")
                .resolve(
                    String.valueOf(cache.folder(torch.release(), library.sha256()).getFileName())));
    Path result = made.resolve(BindingCache.fileName());
    say.accept("links " + result.getFileName());
    tools.run(link(objects, result), sources);
    new BindingManifest(torch.version(), BindingCache.djlVersion(), library, Sha256.hex(result))
        .write(made);
    CompletionMarker.write(made);
    return made;
  }

  private static Class<?> bindingClass() {
    try {
      return Class.forName(BINDING_CLASS, false, BindingBuild.class.getClassLoader());
    } catch (ClassNotFoundException otherDjl) {
      throw new IllegalStateException("DJL has no " + BINDING_CLASS, otherDjl);
    }
  }

  private List<Path> objects(List<Path> files, Path sources) throws IOException {
    AtomicInteger done = new AtomicInteger();
    List<Future<Path>> compiling = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(Math.min(jobs, files.size()))) {
      for (Path file : files) {
        compiling.add(
            threads.submit(
                () -> {
                  Path object = file.resolveSibling(file.getFileName() + ".o");
                  tools.run(compile(file, object, sources), sources);
                  say.accept(
                      "compiled %d of %d: %s"
                          .formatted(done.incrementAndGet(), files.size(), file.getFileName()));
                  return object;
                }));
      }
      List<Path> objects = new ArrayList<>();
      for (Future<Path> each : compiling) {
        objects.add(result(each));
      }
      return objects;
    } finally {
      compiling.forEach(each -> each.cancel(true));
    }
  }

  private static Path result(Future<Path> compiling) throws IOException {
    try {
      return compiling.get();
    } catch (ExecutionException failed) {
      switch (failed.getCause()) {
        case IOException disk -> throw disk;
        case UnusableTorchException refused -> throw refused;
        case null, default -> throw new IllegalStateException(failed);
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while the compiler ran");
    }
  }

  private List<String> compile(Path file, Path object, Path sources) {
    List<String> words = new ArrayList<>(List.of(tools.compiler()));
    words.addAll(STANDARD);
    Stream.of(List.of(sources), tools.javaHeaders(), torch.headers())
        .flatMap(List::stream)
        .forEach(folder -> words.add("-I" + folder));
    words.addAll(List.of("-c", file.toString(), "-o", object.toString()));
    return words;
  }

  private List<String> link(List<Path> objects, Path result) {
    List<String> words = new ArrayList<>(List.of(tools.compiler(), "-shared", "-s", "-o"));
    words.add(result.toString());
    objects.forEach(object -> words.add(object.toString()));
    words.addAll(List.of("-L" + torch.lib(), "-ltorch", "-ltorch_cpu", "-lc10"));
    return words;
  }
}
