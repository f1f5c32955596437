package io.troupe.engine.djl.install;

import ai.djl.util.Platform;
import ai.djl.util.Utils;
import io.troupe.base.cache.CompletionMarker;
import io.troupe.base.hash.Sha256;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The bindings that were built on this machine, in DJL's own cache, where DJL looks for them.
 *
 * <p>DJL chooses a folder by version and flavour. Two builds of one version, say for CPUs and for
 * CUDA, need two bindings, so the flavour here ends with the digest of the library that the binding
 * was linked against: a PyTorch that was replaced in place never meets the binding of its
 * predecessor.
 *
 * @param root DJL's cache of this engine
 */
public record BindingCache(Path root) {
  /** The version of PyTorch that DJL's own binding is for. */
  public static final String BUNDLED = "2.7.1";

  private static final int KEY_DIGITS = 12;
  private static final String ENGINE = "pytorch";
  private static final Path DRIVER = Path.of("/proc/driver/nvidia/version");

  /** The CUDA that DJL's own binding also has a build for. */
  private static final String BUNDLED_CUDA = "12.8";

  /** DJL's cache of this process. */
  public static BindingCache here() {
    return new BindingCache(Utils.getEngineCacheDir(ENGINE).toAbsolutePath());
  }

  /** The version of DJL, whose sources a binding is built of. */
  public static String djlVersion() {
    return Platform.detectPlatform(ENGINE).getApiVersion();
  }

  /** The binding's file within its folder, as DJL names it. */
  static String fileName() {
    return djlVersion() + "-" + System.mapLibraryName("djl_torch");
  }

  /** The flavour by which DJL finds the binding of a PyTorch with this digest. */
  static String flavour(String sha256) {
    // A flavour with "cu" in it makes DJL load a library that needs NVIDIA's driver. PyTorch's own
    // library brings those of CUDA along.
    return "cpu-" + sha256.substring(0, KEY_DIGITS);
  }

  Path folder(String release, String sha256) {
    return root.resolve(
        "%s-%s-%s"
            .formatted(release, flavour(sha256), Platform.detectPlatform(ENGINE).getClassifier()));
  }

  /** Looks for the binding of a PyTorch. */
  public TorchBinding find(InstalledTorch torch) throws IOException {
    if (torch.release().equals(BUNDLED)) {
      return new TorchBinding.Bundled();
    }
    if (!Files.isRegularFile(torch.cpuLibrary())) {
      return new TorchBinding.Absent();
    }
    Path folder = folder(torch.release(), digest(torch).sha256());
    Optional<BindingManifest> manifest = BindingManifest.read(folder);
    if (!Files.isDirectory(folder)) {
      return manifests().stream()
          .filter(each -> each.library().file().equals(torch.cpuLibrary().toString()))
          .findFirst()
          .<TorchBinding>map(each -> new TorchBinding.Outdated(each.torch()))
          .orElseGet(TorchBinding.Absent::new);
    }
    Path file = folder.resolve(fileName());
    if (manifest.isEmpty() || !CompletionMarker.isWhole(folder) || !Files.isRegularFile(file)) {
      return new TorchBinding.Broken(folder, "it is not whole");
    }
    return Sha256.hex(file).equals(manifest.get().bindingSha256())
        ? new TorchBinding.Built(folder)
        : new TorchBinding.Broken(folder, "its content is not what was built");
  }

  /**
   * Returns the digest of a library, as a binding recorded it when it was built, if the library has
   * not changed since.
   */
  LibraryDigest digest(InstalledTorch torch) throws IOException {
    for (BindingManifest manifest : manifests()) {
      if (manifest.library().isUnchanged(torch.cpuLibrary())) {
        return manifest.library();
      }
    }
    return LibraryDigest.of(torch.cpuLibrary());
  }

  private List<BindingManifest> manifests() throws IOException {
    List<BindingManifest> manifests = new ArrayList<>();
    if (Files.isDirectory(root)) {
      try (Stream<Path> folders = Files.list(root)) {
        for (Path folder : folders.sorted().toList()) {
          BindingManifest.read(folder).ifPresent(manifests::add);
        }
      }
    }
    return manifests;
  }

  /**
   * The flavour under which DJL loads a PyTorch.
   *
   * @throws UnusableTorchException if DJL has no binding for it
   */
  String flavour(InstalledTorch torch) throws IOException {
    return switch (find(torch)) {
      case TorchBinding.Bundled() ->
          torch.cuda().startsWith(BUNDLED_CUDA) && Files.exists(DRIVER) ? "cu128" : "cpu";
      case TorchBinding.Built _ -> flavour(digest(torch).sha256());
      case TorchBinding.Absent() ->
          throw new UnusableTorchException(
              "%s: no binding was built for it; run `%s`".formatted(torch, build(torch)));
      case TorchBinding.Outdated(String before) ->
          throw new UnusableTorchException(
              "%s: it was replaced after its binding was built, which was for %s; run `%s`"
                  .formatted(torch, before, build(torch)));
      case TorchBinding.Broken(Path folder, String reason) ->
          throw new UnusableTorchException(
              "%s: its binding in %s cannot be used, because %s; run `%s --again`"
                  .formatted(torch, folder, reason, build(torch)));
    };
  }

  /** The command that builds the binding of a PyTorch. */
  public static String build(InstalledTorch torch) {
    return "troupe torch build " + torch.folder();
  }
}
