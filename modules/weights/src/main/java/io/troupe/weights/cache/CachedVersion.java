package io.troupe.weights.cache;

import io.troupe.base.hash.Sha256;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.safetensors.ModelFiles;
import io.troupe.engine.safetensors.StoredTensor;
import io.troupe.engine.weights.WeightMemory;
import io.troupe.engine.weights.WeightSnapshot;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * A whole version in a directory of this host. Its bytes were checked when they came.
 *
 * @param directory a Hugging Face checkpoint with the manifest beside it. A newer version makes the
 *     cache delete it; what is mapped by then stays readable
 */
public record CachedVersion(WeightRef ref, Path directory, VersionManifest manifest) {
  /**
   * Opens a version that another process of this host fetched.
   *
   * @throws IOException if it is not there any more, or is another than {@code ref}
   */
  public static CachedVersion open(WeightRef ref, Path directory) throws IOException {
    byte[] json = Files.readAllBytes(directory.resolve(VersionManifest.NAME));
    VersionManifest manifest = VersionManifest.of(json);
    WeightRef found = manifest.ref(json);
    if (!found.equals(ref)) {
      throw new IOException("%s holds the weights %s, not %s".formatted(directory, found, ref));
    }
    return new CachedVersion(ref, directory, manifest);
  }

  /**
   * Maps the tensors. Workers of one host that map one version share its memory. Tensors of 16 bits
   * are converted into memory of their own when they are read.
   *
   * @return weights that stay readable as long as they are referenced, after an eviction too
   */
  public WeightSnapshot map() throws IOException {
    Arena arena = WeightMemory.arena(manifest.bytes());
    List<WeightSnapshot.Tensor> tensors = new ArrayList<>();
    for (StoredTensor stored : ModelFiles.map(directory, arena).tensors().values()) {
      tensors.add(stored.snapshot());
    }
    tensors.sort(Comparator.comparing(WeightSnapshot.Tensor::name));
    return new WeightSnapshot(new WeightVersion(manifest.version()), manifest.weights(), tensors);
  }

  /**
   * Reads chunks again, and compares what they are with what they should be: a proof for a
   * measurement or a suspicion, not a step of a transfer.
   *
   * @param share number of the part of the chunks, from 0
   * @param shares into how many parts they are divided
   * @throws IOException if a chunk is not what the manifest says; the message names it
   */
  public void verify(int share, int shares) throws IOException {
    List<VersionManifest.Place> places = manifest.places();
    for (int i = share; i < places.size(); i += shares) {
      VersionManifest.Place place = places.get(i);
      Path file = directory.resolve(place.file().name());
      try (Arena arena = Arena.ofConfined();
          FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
        MessageDigest digest = Sha256.digest();
        digest.update(
            channel
                .map(
                    FileChannel.MapMode.READ_ONLY,
                    place.chunk().offset(),
                    place.chunk().length(),
                    arena)
                .asByteBuffer());
        if (!Sha256.hex(digest).equals(place.chunk().sha256())) {
          throw new IOException(
              "%s is damaged between byte %d and byte %d"
                  .formatted(
                      file,
                      place.chunk().offset(),
                      place.chunk().offset() + place.chunk().length()));
        }
      }
    }
  }
}
