package io.troupe.cli.torch;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.engine.djl.install.BindingCache;
import io.troupe.engine.djl.install.TorchSearch;
import io.troupe.run.session.JsonText;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe torch list}: the PyTorches of this machine. */
@Command(
    name = "list",
    description =
        "Lists DJL's own PyTorch, that of TROUPE_TORCH, and that of the Python on the search path:"
            + " version, CUDA, NCCL, and whether its binding is built.")
final class TorchListCommand extends CliCommand {
  @Parameters(
      arity = "0..1",
      paramLabel = "PLACE",
      description = "Another place to look in, as policy.torch names it: a virtual environment.")
  private String place = "";

  @Option(names = "--json", description = "One JSON object for each instead of text.")
  private boolean json;

  @Override
  public Integer call() throws IOException {
    List<Map<String, Object>> all = new ArrayList<>();
    all.add(own());
    for (TorchSearch.Found found : new TorchSearch(System.getenv()).all(place)) {
      all.add(TorchDescription.json(found.how(), found.torch(), BindingCache.here()));
    }
    PrintWriter out = out();
    JsonText text = new JsonText();
    all.forEach(each -> out.println(json ? text.line(each) : line(each)));
    out.flush();
    return ExitCode.OK.code();
  }

  private static Map<String, Object> own() {
    Map<String, Object> own = new LinkedHashMap<>();
    own.put("found_by", "DJL");
    own.put("folder", BindingCache.here().root().toString());
    own.put("version", BindingCache.BUNDLED + "+cpu");
    own.put("cuda", "");
    own.put("nccl", "");
    own.put("binding", "DJL's own");
    own.put("next", "");
    return own;
  }

  private static String line(Map<String, Object> torch) {
    String cuda = text(torch, "cuda");
    String nccl = text(torch, "nccl");
    String line =
        "%-14s %-8s %s%n%15sfound by %s · binding %s%s"
            .formatted(
                text(torch, "version"),
                cuda.isEmpty() ? "no CUDA" : "CUDA " + cuda,
                text(torch, "folder"),
                "",
                text(torch, "found_by"),
                text(torch, "binding"),
                nccl.isEmpty() ? "" : " · NCCL " + nccl);
    String next = text(torch, "next");
    return next.isEmpty() ? line : "%s%n%15snext: %s".formatted(line, "", next);
  }

  private static String text(Map<String, Object> torch, String key) {
    return Objects.requireNonNull(torch.get(key)).toString();
  }
}
