package io.troupe.net.hub;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.net.http.HttpDownload;
import io.troupe.net.http.HttpDownload.Expected;
import io.troupe.net.http.HttpDownload.Patience;
import io.troupe.net.http.HttpDownload.RefusedException;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** A hub that speaks the protocol of huggingface.co, by plain GETs. */
public final class HubRepository {
  /** The largest list of a repository's files, in bytes. */
  private static final long MOST_LISTED_BYTES = 64 << 20;

  private final String endpoint;
  private final String token;
  private final HttpDownload download;

  /** The kinds of repositories. */
  public enum Kind {
    MODELS(""),
    DATASETS("/datasets");

    private final String prefix;

    Kind(String prefix) {
      this.prefix = prefix;
    }

    private String api() {
      return this == MODELS ? "/api/models" : "/api/datasets";
    }
  }

  /**
   * A repository's file.
   *
   * @param name within the repository
   * @param expected the hub's description of its content
   */
  public record HubFile(String name, Expected expected) {}

  /**
   * The files of a revision.
   *
   * @param revision commit of the files, or the name that was asked for if the hub does not say
   */
  public record Listing(String revision, List<HubFile> files) {
    public Listing {
      files = List.copyOf(files);
    }
  }

  /**
   * Creates a hub.
   *
   * @param endpoint such as {@code https://huggingface.co}, the value of {@code HF_ENDPOINT}
   * @param token of {@code HF_TOKEN}; empty means none
   */
  public HubRepository(String endpoint, String token, Patience patience) throws IOException {
    this.endpoint = endpoint.replaceAll("/+$", "");
    this.token = token;
    this.download = new HttpDownload(address("/").getAuthority(), token, patience);
  }

  /** The page of a repository, for messages. */
  public static String place(String endpoint, Kind kind, String repository) {
    return endpoint.replaceAll("/+$", "") + kind.prefix + "/" + repository;
  }

  /**
   * Lists the files of a revision; nothing if the hub does not have it.
   *
   * @param revision commit, branch or tag
   */
  public Optional<Listing> list(Kind kind, String repository, String revision) throws IOException {
    boolean main = revision.equals("main");
    String path = "%s/%s%s".formatted(kind.api(), repository, main ? "" : "/revision/" + revision);
    Optional<byte[]> answer;
    try {
      answer = download.read(withQuery(address(path), "blobs=true"), MOST_LISTED_BYTES);
    } catch (RefusedException refused) {
      throw explained(refused);
    }
    if (answer.isEmpty()) {
      return Optional.empty();
    }
    JsonNode described = new JsonMapper().readTree(answer.get());
    List<HubFile> files = new ArrayList<>();
    described
        .path("siblings")
        .forEach(
            file ->
                files.add(
                    new HubFile(
                        file.path("rfilename").asText(""),
                        new Expected(
                            file.path("size").asLong(-1),
                            file.path("lfs").path("sha256").asText("")))));
    return Optional.of(new Listing(described.path("sha").asText(revision), files));
  }

  /**
   * Fetches a file under its name within a folder, or what is missing of it. A file that is there
   * was whole when it took its name.
   */
  public void fetch(Kind kind, String repository, String revision, HubFile wanted, Path into)
      throws IOException {
    Path file = into.resolve(wanted.name()).normalize();
    if (!file.startsWith(into)) {
      throw new IOException("the hub names a file outside of its repository: " + wanted.name());
    }
    if (Files.exists(file)) {
      return;
    }
    Files.createDirectories(Objects.requireNonNull(file.getParent()));
    String path = "%s/%s/resolve/%s/%s".formatted(kind.prefix, repository, revision, wanted.name());
    try {
      download.fetch(address(path), file, wanted.expected());
    } catch (RefusedException refused) {
      throw explained(refused);
    }
  }

  private IOException explained(RefusedException refused) {
    boolean closed = refused.status() == 401 || refused.status() == 403;
    return closed
        ? new IOException(
            refused.getMessage()
                + (token.isEmpty()
                    ? "; set HF_TOKEN"
                    : "; HF_TOKEN does not open it: accept the licence on the repository's page"),
            refused)
        : refused;
  }

  private static URI withQuery(URI address, String query) {
    return URI.create(address + "?" + query);
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
