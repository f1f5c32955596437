package io.troupe.config.rollout;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.engine.http.client.InferenceEndpoint;
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
    @Doc(value = "Most completions that each samples at a time.", unit = "completions")
        @Default("64")
        @Range(min = 1, max = 1_000_000)
        int concurrency,
    @Doc(
            "Where their API key is: `env:NAME`, a variable of the environment, or `file:PATH`;"
                + " empty for none.")
        @Default("")
        String key)
    implements Validated {
  public EndpointsSection {
    urls = List.copyOf(urls);
  }

  @Override
  public void check(RuleChecker rules) {
    check(rules, "urls", urls, "key", key);
  }

  /** States the rules of servers' URLs and of the place of their key. */
  public static void check(
      RuleChecker rules, String urlsName, List<String> urls, String keyName, String key) {
    rules
        .on(keyName)
        .require(
            () -> key.isEmpty() || key.startsWith("env:") || key.startsWith("file:"),
            "must begin with env: or file:, and never be the key itself",
            "write env:NAME or file:PATH");
    for (String url : urls) {
      rules
          .on(urlsName)
          .require(
              () -> objection(url).isEmpty(),
              objection(url).orElse(""),
              "write scheme, host and port, such as http://127.0.0.1:8000");
    }
  }

  private static Optional<String> objection(String url) {
    try {
      var _ = new InferenceEndpoint(URI.create(url), "", 1, InferenceEndpoint.Patience.DEFAULT);
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
  public List<InferenceEndpoint> endpoints() throws IOException {
    return endpoints(urls, concurrency, "rollout.endpoints.key", key);
  }

  /** Servers with their key, from the place that a setting names. */
  public static List<InferenceEndpoint> endpoints(
      List<String> urls, int concurrency, String keyName, String key) throws IOException {
    String secret = secret(keyName, key);
    List<InferenceEndpoint> endpoints = new ArrayList<>();
    for (String url : urls) {
      endpoints.add(
          new InferenceEndpoint(
              URI.create(url), secret, concurrency, InferenceEndpoint.Patience.DEFAULT));
    }
    return endpoints;
  }

  private static String secret(String name, String key) throws IOException {
    if (key.startsWith("env:")) {
      String variable = key.substring("env:".length());
      return Optional.ofNullable(System.getenv(variable))
          .orElseThrow(
              () ->
                  new IOException(
                      "%s: the environment has no variable %s; set it".formatted(name, variable)));
    }
    return key.isEmpty() ? "" : Files.readString(Path.of(key.substring("file:".length()))).strip();
  }
}
