package io.troupe.engine.djl.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.base.cache.CompletionMarker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The build around the compiler, which is a script here. */
final class BindingBuildTest {
  @TempDir private Path folder;

  private final List<String> said = new CopyOnWriteArrayList<>();
  private BindingCache cache = new BindingCache(Path.of(""));
  private InstalledTorch torch = new InstalledTorch(Path.of(""), "", "");
  private Path archive = Path.of("");

  @BeforeEach
  void install() throws IOException {
    cache = new BindingCache(folder.resolve("cache/pytorch"));
    torch = FakeInstall.torch(folder.resolve("environment"), "2.13.0+cpu", "");
    archive = FakeInstall.archive(folder.resolve("djl.tar.gz"), Map.of());
  }

  private BindingBuild build(BuildTools tools) {
    return new BindingBuild(torch, cache, FakeInstall.published(), tools, 2, said::add);
  }

  private Path built() throws IOException {
    return build(FakeInstall.tools(folder, true)).build(archive, false, _ -> {});
  }

  /** The names in the cache, without the lock. */
  private List<String> left() throws IOException {
    try (Stream<Path> files = Files.list(cache.root())) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> !name.endsWith(".lock"))
          .toList();
    }
  }

  @Test
  void build_firstTime_compilesLinksAndIsFound() throws IOException {
    Path place = built();

    assertThat(cache.find(torch)).isEqualTo(new TorchBinding.Built(place));
    assertThat(left()).containsExactly(place.getFileName().toString());
    assertThat(place.resolve(BindingCache.fileName())).hasContent("binary");
    assertThat(said)
        .contains("links " + BindingCache.fileName())
        .anyMatch(line -> line.startsWith("compiled 2 of 2: "));
    List<String> words = Files.readAllLines(folder.resolve("words"));
    assertThat(words).hasSize(3);
    assertThat(words.getFirst())
        .contains("-std=c++20", "-I" + torch.headers().getFirst(), folder + "/jdk/include");
    assertThat(words.getLast()).contains("-shared", "-L" + torch.lib(), "-ltorch_cpu");
    assertThat(TorchSelection.properties(torch, cache))
        .containsEntry("PYTORCH_LIBRARY_PATH", torch.lib().toString())
        .containsEntry("PYTORCH_VERSION", "2.13.0");
  }

  @Test
  void build_isThere_compilesNothing() throws IOException {
    Path place = built();
    assertThat(
            build(new BuildTools("/bin/false", folder.resolve("jdk")))
                .build(archive, false, _ -> {}))
        .isEqualTo(place);
    assertThatThrownBy(
            () ->
                build(new BuildTools("/bin/false", folder.resolve("jdk")))
                    .build(archive, true, _ -> {}))
        .hasMessageContaining("/bin/false")
        .hasMessageContaining("failed with exit code 1");
    assertThat(cache.find(torch)).isEqualTo(new TorchBinding.Built(place));
  }

  @Test
  void build_nothingInstalled_namesEverythingThatIsMissing() throws IOException {
    Files.delete(torch.headers().getLast().resolve("torch/all.h"));
    Files.delete(torch.lib().resolve(System.mapLibraryName("c10")));
    BuildTools none = new BuildTools("", folder.resolve("no-jdk"));

    assertThatThrownBy(() -> build(none).build(archive, false, _ -> {}))
        .isInstanceOf(UnusableTorchException.class)
        .hasMessageContaining("no C++ compiler: install one (apt-get install g++)")
        .hasMessageContaining("no-jdk/include/jni.h: this Java has no headers")
        .hasMessageContaining("libc10.so: PyTorch's library is not there")
        .hasMessageContaining("torch/all.h: PyTorch's C++ headers are not there");
    assertThat(cache.root()).doesNotExist();
  }

  @Test
  void build_compilerOrCheckFails_leavesNothing() throws IOException {
    assertThatThrownBy(() -> build(FakeInstall.tools(folder, false)).build(archive, false, _ -> {}))
        .isInstanceOf(UnusableTorchException.class)
        .hasMessageContaining("failed with exit code 1:\na.cc:1: error: no such thing");
    assertThat(left()).isEmpty();
    assertThatThrownBy(
            () ->
                build(FakeInstall.tools(folder, true))
                    .build(
                        archive,
                        false,
                        work -> {
                          assertThat(work.resolve("pytorch")).isNotEmptyDirectory();
                          throw new UnusableTorchException("it does not load");
                        }))
        .hasMessage("it does not load");
    assertThat(left()).isEmpty();
    assertThat(cache.find(torch)).isEqualTo(new TorchBinding.Absent());
  }

  @Test
  void build_otherSources_areRefused() throws IOException {
    BuildTools tools = FakeInstall.tools(folder, true);
    Path changed =
        FakeInstall.archive(folder.resolve("changed.tar.gz"), Map.of("b.cc", "int changed;"));
    assertThatThrownBy(() -> build(tools).build(changed, false, _ -> {}))
        .hasMessageContaining("b.cc is not the published file")
        .hasMessageContaining("https://github.com/deepjavalibrary/djl/archive/");
    Path text = Files.writeString(folder.resolve("text.tar.gz"), "not an archive");
    assertThatThrownBy(() -> build(tools).build(text, false, _ -> {}))
        .hasMessageContaining("it is no archive of sources");
    assertThat(left()).isEmpty();
  }

  @Test
  void build_cacheThatCannotBeWritten_namesTheVariable() throws IOException {
    Files.createDirectories(folder.resolve("cache"));
    Files.writeString(cache.root(), "a file where the cache should be");
    assertThatThrownBy(() -> built()).hasMessageContaining("set DJL_CACHE_DIR");
  }

  @Test
  void find_torchReplacedAfterTheBuild_isOutdated() throws IOException {
    built();
    InstalledTorch before = torch;
    torch = FakeInstall.torch(folder.resolve("environment"), "2.13.1+cpu", "");

    assertThat(cache.find(torch)).isEqualTo(new TorchBinding.Outdated(before.version()));
    assertThatThrownBy(() -> cache.flavour(torch))
        .isInstanceOf(UnusableTorchException.class)
        .hasMessageContaining("it was replaced after its binding was built")
        .hasMessageEndingWith("run `troupe torch build %s`".formatted(torch.folder()));
  }

  /** A binding of equal version, distinguished by content alone. */
  @Test
  void find_libraryReplacedUnderTheSameVersion_isOutdated() throws IOException {
    built();
    Files.writeString(torch.cpuLibrary(), "another build");
    assertThat(cache.find(torch)).isEqualTo(new TorchBinding.Outdated(torch.version()));
  }

  @Test
  void find_halfWrittenOrChangedBinding_isBroken() throws IOException {
    Path place = built();
    Path file = place.resolve(BindingCache.fileName());
    Files.writeString(file, "bin");
    assertThat(cache.find(torch)).isEqualTo(new TorchBinding.Broken(place, "it is not whole"));
    Files.writeString(file, "BINARY\n");
    assertThat(cache.find(torch))
        .isEqualTo(new TorchBinding.Broken(place, "its content is not what was built"));
    assertThatThrownBy(() -> cache.flavour(torch)).hasMessageContaining("--again");
    Files.delete(place.resolve(CompletionMarker.NAME));
    assertThat(cache.find(torch)).isEqualTo(new TorchBinding.Broken(place, "it is not whole"));
    assertThat(built()).isEqualTo(place);
    assertThat(cache.find(torch)).isEqualTo(new TorchBinding.Built(place));
  }

  @Test
  void find_bundledVersion_needsNoBuild() throws IOException {
    InstalledTorch bundled = FakeInstall.torch(folder.resolve("own"), "2.7.1+cpu", "");
    assertThat(cache.find(bundled)).isEqualTo(new TorchBinding.Bundled());
    assertThat(cache.flavour(bundled)).isEqualTo("cpu");
  }
}
