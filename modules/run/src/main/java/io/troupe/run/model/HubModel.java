package io.troupe.run.model;

import io.troupe.engine.djl.checkpoint.ModelDescription;
import io.troupe.net.http.HttpDownload.Patience;
import io.troupe.net.hub.HubRepository;
import io.troupe.net.hub.HubRepository.HubFile;
import io.troupe.net.hub.HubRepository.Kind;
import io.troupe.net.hub.HubRepository.Listing;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * A model on the Hugging Face hub. All files are of the commit that the revision names when the
 * fetch begins, also where it continues an earlier one.
 */
final class HubModel implements ModelOrigin {
  /** Names the commit of the files that a folder holds; not a file of the model. */
  static final String COMMIT = ".commit";

  private static final Pattern WEIGHTS =
      Pattern.compile("model(-\\d+-of-\\d+)?\\.safetensors(\\.index\\.json)?");
  private static final Pattern COMPANIONS =
      Pattern.compile("(.+\\.(json|jinja|txt|model)|LICENSE.*|README\\.md)");
  private static final Pattern TEMPLATES =
      Pattern.compile(ModelDescription.TEMPLATES + "/[^/]+\\.jinja");

  private final ModelName.Repository model;
  private final HubAccess access;
  private final Consumer<String> say;

  /**
   * The address of a hub and the access to it.
   *
   * @param endpoint such as {@code https://huggingface.co}, the value of {@code HF_ENDPOINT}
   * @param token of {@code HF_TOKEN}; empty means none
   * @param patience with it
   */
  record HubAccess(String endpoint, String token, Patience patience) {
    @Override
    public String toString() {
      return "HubAccess[" + endpoint + "]"; // without the token
    }
  }

  HubModel(ModelName.Repository model, HubAccess access, Consumer<String> say) {
    this.model = model;
    this.access = access;
    this.say = say;
  }

  @Override
  public String key() {
    return "hub";
  }

  @Override
  public String place() {
    return HubRepository.place(access.endpoint(), Kind.MODELS, model.repository());
  }

  @Override
  public boolean fetch(Path into, Part part) throws IOException {
    HubRepository hub = new HubRepository(access.endpoint(), access.token(), access.patience());
    Optional<Listing> listing = hub.list(Kind.MODELS, model.repository(), revision(into));
    if (listing.isEmpty()) {
      return false;
    }
    String commit = listing.get().revision();
    Files.writeString(into.resolve(COMMIT), commit);
    List<HubFile> files =
        listing.get().files().stream().filter(file -> isOfTheModel(file.name())).toList();
    if (files.stream().noneMatch(file -> file.name().endsWith(".safetensors"))) {
      throw new IOException("it has no model.safetensors; weights in other formats are not read");
    }
    files = files.stream().filter(file -> part.has(file.name())).toList();
    long bytes = files.stream().mapToLong(file -> Math.max(0, file.expected().size())).sum();
    say.accept(
        "fetches %s at %s: %d files, %.1f GB".formatted(model, commit, files.size(), bytes / 1e9));
    for (HubFile file : files) {
      if (!Files.exists(into.resolve(file.name()))) {
        say.accept("fetches %s %s".formatted(model, file.name()));
        hub.fetch(Kind.MODELS, model.repository(), commit, file, into);
      }
    }
    return true;
  }

  /** A fetch that was interrupted continues with its own commit. */
  private String revision(Path into) throws IOException {
    Path begun = into.resolve(COMMIT);
    return Files.exists(begun) ? Files.readString(begun) : model.revision();
  }

  private static boolean isOfTheModel(String name) {
    return TEMPLATES.matcher(name).matches()
        || (!name.contains("/")
            && (WEIGHTS.matcher(name).matches() || COMPANIONS.matcher(name).matches()));
  }
}
