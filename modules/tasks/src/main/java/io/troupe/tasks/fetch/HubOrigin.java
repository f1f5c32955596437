package io.troupe.tasks.fetch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.net.http.WholeResponse;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The Hugging Face hub, by plain GETs: the list of a repository's files, then the files.
 *
 * <p>This class follows redirections itself, so that the token reaches only the hub and never the
 * store that serves a file.
 */
public final class HubOrigin implements DataOrigin {
  private static final int REDIRECTIONS = 5;
  private static final Duration STALL = Duration.ofSeconds(60);

  /** The largest list of a repository's files, in bytes. */
  private static final long MOST_LISTED_BYTES = 64 << 20;

  private final HttpClient client;
  private final String endpoint;
  private final String token;
  private final Duration stall;

  /**
   * Creates an origin for a hub.
   *
   * @param endpoint such as {@code https://huggingface.co}, the value of {@code HF_ENDPOINT}
   * @param token of {@code HF_TOKEN}; empty means none
   */
  public HubOrigin(String endpoint, String token) {
    this(endpoint, token, STALL);
  }

  /**
   * Creates an origin with another time limit.
   *
   * @param stall longest time without a byte; the whole file may take any time
   */
  HubOrigin(String endpoint, String token, Duration stall) {
    this.stall = stall;
    this.endpoint = endpoint.replaceAll("/+$", "");
    this.token = token;
    this.client =
        HttpClient.newBuilder()
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(Duration.ofSeconds(20))
            .build();
  }

  @Override
  public String place(SplitRef wanted) {
    return endpoint + "/datasets/" + wanted.repository();
  }

  @Override
  public boolean fetch(SplitRef wanted, Path into) throws IOException {
    List<String> names = names(wanted.repository());
    List<String> chosen = DataFolder.choose(names, wanted.subset(), wanted.split());
    for (String name : chosen) {
      Path file = into.resolve(name).normalize();
      if (!file.startsWith(into)) {
        throw new IOException("the hub names a file outside of its repository: " + name);
      }
      Files.createDirectories(file.getParent());
      download("/datasets/" + wanted.repository() + "/resolve/main/" + name, file);
    }
    return !chosen.isEmpty();
  }

  private List<String> names(String repository) throws IOException {
    HttpResponse<Optional<byte[]>> response =
        get(
            "/api/datasets/" + repository,
            BodyHandlers.limiting(BodyHandlers.ofByteArray(), MOST_LISTED_BYTES));
    if (response.body().isEmpty()) {
      return List.of();
    }
    JsonNode described = new JsonMapper().readTree(response.body().get());
    List<String> names = new ArrayList<>();
    described.path("siblings").forEach(sibling -> names.add(sibling.path("rfilename").asText("")));
    return names;
  }

  private void download(String path, Path file) throws IOException {
    HttpResponse<Optional<Path>> response =
        get(
            path,
            BodyHandlers.ofFile(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE));
    if (response.body().isEmpty()) {
      throw new IOException(path + " is listed and not there");
    }
    OptionalLong promised = response.headers().firstValueAsLong("content-length");
    if (promised.isPresent() && promised.getAsLong() != Files.size(file)) {
      throw new IOException(
          "%s: %d of %d bytes came".formatted(path, Files.size(file), promised.getAsLong()));
    }
  }

  /** Returns the response, empty if the hub does not have the path. */
  private <T> HttpResponse<Optional<T>> get(String path, BodyHandler<T> handler)
      throws IOException {
    URI address = address(path);
    for (int i = 0; i <= REDIRECTIONS; i++) {
      HttpRequest.Builder request = HttpRequest.newBuilder(address).GET();
      if (!token.isEmpty() && address.getAuthority().equals(address("/").getAuthority())) {
        request.header("Authorization", "Bearer " + token);
      }
      HttpResponse<Optional<T>> response = send(request.build(), handler);
      int status = response.statusCode();
      if (status == 200 || status == 404) {
        return response;
      }
      if (status < 300 || status >= 400) {
        throw new IOException(refusal(address, status));
      }
      String next = response.headers().firstValue("location").orElse("");
      if (next.isEmpty()) {
        throw new IOException("%s: status %d without a location".formatted(address, status));
      }
      address = address.resolve(next);
    }
    throw new IOException("%s: more than %d redirections".formatted(path, REDIRECTIONS));
  }

  private String refusal(URI address, int status) {
    return "%s: status %d%s"
        .formatted(
            address,
            status,
            status == 401 || status == 403
                ? (token.isEmpty() ? "; set HF_TOKEN" : "; HF_TOKEN does not open it")
                : "");
  }

  private <T> HttpResponse<Optional<T>> send(HttpRequest request, BodyHandler<T> handler)
      throws IOException {
    try {
      return WholeResponse.whileProgressing(
          client,
          request,
          info ->
              info.statusCode() == 200
                  ? BodySubscribers.mapping(handler.apply(info), Optional::of)
                  : BodySubscribers.replacing(Optional.empty()),
          stall);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      InterruptedIOException interrupted = new InterruptedIOException("interrupted");
      interrupted.initCause(e);
      throw interrupted;
    }
  }

  private URI address(String path) throws IOException {
    try {
      URI base = new URI(endpoint);
      if (base.getAuthority() == null) {
        throw new IOException("HF_ENDPOINT must be an address such as https://huggingface.co");
      }
      return new URI(base.getScheme(), base.getAuthority(), base.getPath() + path, null, null);
    } catch (URISyntaxException e) {
      throw new IOException("%s%s is no address: %s".formatted(endpoint, path, e.getMessage()), e);
    }
  }
}
