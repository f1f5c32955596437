package io.troupe.cli.torch;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.engine.djl.GoldenStepProcess;
import io.troupe.engine.djl.install.BindingBuild;
import io.troupe.engine.djl.install.BindingCache;
import io.troupe.engine.djl.install.BindingSources;
import io.troupe.engine.djl.install.BuildTools;
import io.troupe.engine.djl.install.InstalledTorch;
import io.troupe.engine.djl.install.TorchBinding;
import io.troupe.engine.djl.install.UnusableTorchException;
import io.troupe.net.http.HttpDownload;
import io.troupe.run.session.JsonText;
import io.troupe.store.file.MachineMemory;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe torch build}: makes an installed PyTorch usable. */
@Command(
    name = "build",
    description = {
      "Compiles DJL's published binding sources against an installed PyTorch, checks the result by"
          + " a training step, and puts it into DJL's cache. The Python environment is not"
          + " changed.",
      "Needs a C++ compiler and the headers of a JDK; takes some 200 s of one core.",
      "Exit code 0 if the binding is there, 2 if something is missing, which is named."
    },
    footer = {
      "",
      "Examples:",
      "  troupe torch build ~/vllm-env",
      "  troupe torch build ~/vllm-env --sources djl-0.35.1.tar.gz"
    })
final class TorchBuildCommand extends CliCommand {
  /** The memory of a compiler for one file that includes PyTorch's headers. */
  private static final long BYTES_PER_JOB = 1536L << 20;

  @Mixin private TorchPlace place = new TorchPlace();

  @Option(
      names = "--sources",
      paramLabel = "FILE",
      description =
          "An archive with DJL's sources (.tar.gz), for machines without a network; its files are"
              + " checked by their SHA-256.")
  private @Nullable Path sources;

  @Option(
      names = "--jobs",
      paramLabel = "N",
      description = "Files compiled at a time; 0 means as many as cores and memory allow.")
  private int jobs;

  @Option(names = "--again", description = "Builds it even if it is there.")
  private boolean again;

  @Option(names = "--json", description = "One JSON object at the end instead of text.")
  private boolean json;

  @Override
  public Integer call() throws IOException {
    InstalledTorch torch = place.chosen();
    BindingCache cache = BindingCache.here();
    PrintWriter out = out();
    PrintWriter progress = json ? err() : out;
    if (cache.find(torch) instanceof TorchBinding.Bundled) {
      line(progress, "%s needs no build: DJL's own binding is for it".formatted(torch));
    } else {
      build(torch, cache, progress);
    }
    Map<String, Object> result = TorchDescription.json("command line", torch, cache);
    line(
        out,
        json
            ? new JsonText().line(result)
            : "binding %s; next: TROUPE_TORCH=%s troupe torch doctor"
                .formatted(result.get("binding"), torch.folder()));
    return ExitCode.OK.code();
  }

  private void build(InstalledTorch torch, BindingCache cache, PrintWriter progress)
      throws IOException {
    BindingBuild build =
        new BindingBuild(
            torch,
            cache,
            BindingSources.published(),
            BuildTools.of(System.getenv()),
            jobs > 0 ? jobs : mostJobs(),
            message -> line(progress, message));
    build.requireTools();
    Path archive = archive(cache, progress);
    line(progress, "builds the binding of %s".formatted(torch));
    Path folder =
        build.build(archive, again, engineCache -> GoldenStepProcess.over(torch, engineCache));
    line(progress, folder.toString());
  }

  private Path archive(BindingCache cache, PrintWriter progress) throws IOException {
    if (sources != null) {
      if (!Files.isRegularFile(sources)) {
        throw new UnusableTorchException(
            "%s: no such file; fetch %s".formatted(sources, BindingSources.address()));
      }
      return sources;
    }
    Path file = cache.root().resolve("djl-%s.tar.gz".formatted(BindingCache.djlVersion()));
    if (!Files.isRegularFile(file)) {
      Files.createDirectories(cache.root());
      line(progress, "fetches " + BindingSources.address());
      try {
        HttpDownload.plain().fetch(URI.create(BindingSources.address()), file);
      } catch (IOException unreachable) {
        throw new UnusableTorchException(
            "DJL's sources cannot be fetched: %s; fetch %s where there is a network, and give the file with --sources"
                .formatted(unreachable.getMessage(), BindingSources.address()),
            unreachable);
      }
    }
    return file;
  }

  private static int mostJobs() {
    long memory = MachineMemory.available().orElse(Long.MAX_VALUE) / BYTES_PER_JOB;
    return Math.toIntExact(Math.clamp(memory, 1, Runtime.getRuntime().availableProcessors()));
  }

  private static void line(PrintWriter out, String text) {
    out.println(text);
    out.flush();
  }
}
