package io.troupe.tasks.fetch;

import static java.util.Objects.requireNonNull;

import io.troupe.net.http.HttpDownload.Patience;
import io.troupe.net.hub.HubRepository;
import io.troupe.net.hub.HubRepository.HubFile;
import io.troupe.net.hub.HubRepository.Kind;
import io.troupe.net.hub.HubRepository.Listing;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The data sets of the Hugging Face hub.
 *
 * @param endpoint such as {@code https://huggingface.co}, the value of {@code HF_ENDPOINT}
 * @param token of {@code HF_TOKEN}; empty means none
 * @param patience with the hub
 */
public record HubOrigin(String endpoint, String token, Patience patience) implements DataOrigin {
  private static final String REVISION = "main";

  /** Creates an origin for a hub. */
  public HubOrigin(String endpoint, String token) {
    this(endpoint, token, Patience.USUAL);
  }

  @Override
  public String place(SplitRef wanted) {
    return HubRepository.place(endpoint, Kind.DATASETS, wanted.repository());
  }

  @Override
  public boolean fetch(SplitRef wanted, Path into) throws IOException {
    HubRepository hub = new HubRepository(endpoint, token, patience);
    Optional<Listing> listing = hub.list(Kind.DATASETS, wanted.repository(), REVISION);
    if (listing.isEmpty()) {
      return false;
    }
    Map<String, HubFile> files = new LinkedHashMap<>();
    listing.get().files().forEach(file -> files.put(file.name(), file));
    DataLayout layout =
        new DataLayout(
            place(wanted),
            List.copyOf(files.keySet()),
            name -> {
              hub.fetch(
                  Kind.DATASETS,
                  wanted.repository(),
                  REVISION,
                  requireNonNull(files.get(name)),
                  into);
              return Files.readString(into.resolve(name));
            });
    List<String> chosen = layout.splits(wanted.subset()).getOrDefault(wanted.split(), List.of());
    for (String name : chosen) {
      hub.fetch(
          Kind.DATASETS, wanted.repository(), REVISION, requireNonNull(files.get(name)), into);
    }
    return !chosen.isEmpty();
  }

  @Override
  public String toString() {
    return "HubOrigin[" + endpoint + "]"; // without the token
  }
}
