package io.troupe.app.config;

import io.troupe.app.config.binding.Checked;
import io.troupe.app.config.binding.Default;
import io.troupe.app.config.binding.Doc;
import io.troupe.app.config.binding.Range;
import io.troupe.app.config.binding.Rules;
import io.troupe.engine.http.Endpoint;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Inference servers that others run. */
public record EndpointsSection(
    @Doc("URLs of inference servers that sample, such as `http://10.0.0.7:8000`; none by default.")
        List<String> urls,
    @Doc(value = "Most completions that each draws at a time.", unit = "completions")
        @Default("64")
        @Range(min = 1, max = 1_000_000)
        int concurrency,
    @Doc(
            "Where their API key is: `env:NAME`, a variable of the environment, or `file:PATH`;"
                + " empty for none.")
        @Default("")
        String key)
    implements Checked {
  public EndpointsSection {
    urls = List.copyOf(urls);
  }

  @Override
  public void check(Rules rules) {
    rules
        .on("key")
        .require(
            () -> key.isEmpty() || key.startsWith("env:") || key.startsWith("file:"),
            "must begin with env: or file:, and never be the key itself",
            "write env:NAME or file:PATH");
    for (String url : urls) {
      rules
          .on("urls")
          .require(
              () -> objection(url).isEmpty(),
              objection(url).orElse(""),
              "write scheme, host and port, such as http://127.0.0.1:8000");
    }
  }

  private static Optional<String> objection(String url) {
    try {
      var _ = new Endpoint(URI.create(url), "", 1, Endpoint.Patience.DEFAULT);
      return Optional.empty();
    } catch (IllegalArgumentException wrong) {
      return Optional.of("holds '%s': %s".formatted(url, wrong.getMessage()));
    }
  }

  /**
   * The servers, with their key.
   *
   * @throws IOException if the key is not where it should be
   */
  public List<Endpoint> endpoints() throws IOException {
    String secret = secret();
    List<Endpoint> endpoints = new ArrayList<>();
    for (String url : urls) {
      endpoints.add(new Endpoint(URI.create(url), secret, concurrency, Endpoint.Patience.DEFAULT));
    }
    return endpoints;
  }

  private String secret() throws IOException {
    if (key.startsWith("env:")) {
      String name = key.substring("env:".length());
      return Optional.ofNullable(System.getenv(name))
          .orElseThrow(
              () ->
                  new IOException(
                      "rollout.endpoints.key: the environment has no variable %s; set it"
                          .formatted(name)));
    }
    return key.isEmpty() ? "" : Files.readString(Path.of(key.substring("file:".length()))).strip();
  }
}
