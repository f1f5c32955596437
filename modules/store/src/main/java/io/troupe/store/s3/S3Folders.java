package io.troupe.store.s3;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Predicate;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.ResponseTransformer;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * Reads folders and objects of S3. Throttling and failures of the server are tried again three
 * times; whatever comes is held against the size the server promised.
 */
public final class S3Folders {
  private final S3Settings settings;

  /** Folders that are reached as the settings say. */
  public S3Folders(S3Settings settings) {
    this.settings = settings;
  }

  /**
   * Downloads every object of a folder under its name within it.
   *
   * @param place {@code s3://bucket/folder}
   * @param into a folder; a file in it that has the name and size of an object is kept, any other
   *     one of these names is replaced
   * @return number of files that came; 0 if there is no such folder
   * @throws IOException if the bucket cannot be read, or a file did not come whole; says which and
   *     what to do
   */
  public int download(String place, Path into) throws IOException {
    return download(place, into, _ -> true);
  }

  /**
   * Downloads some files of a folder, as {@link #download(String, Path)} does all of them.
   *
   * @param wanted takes the path of a file within the folder
   */
  public int download(String place, Path into, Predicate<String> wanted) throws IOException {
    S3Address folder = S3Address.parse(place).folder();
    int files = 0;
    try (S3Client client = settings.open()) {
      for (S3Object object :
          client
              .listObjectsV2Paginator(list -> list.bucket(folder.bucket()).prefix(folder.key()))
              .contents()) {
        String name = object.key().substring(folder.key().length());
        // Consoles make an object whose name ends with a slash to show an empty folder.
        if (name.isEmpty() || name.endsWith("/") || !wanted.test(name)) {
          continue;
        }
        Path file = into.resolve(name).normalize();
        if (!file.startsWith(into)) {
          throw new IOException("%s: the name %s leads out of its folder".formatted(folder, name));
        }
        download(client, new S3Address(folder.bucket(), object.key()), object.size(), file);
        files++;
      }
    } catch (SdkException e) {
      throw refused(folder, e);
    }
    return files;
  }

  private static void download(S3Client client, S3Address object, long size, Path file)
      throws IOException {
    if (Files.exists(file) && Files.size(file) == size) {
      return;
    }
    Files.createDirectories(file.getParent());
    Files.deleteIfExists(file);
    client.getObject(
        get -> get.bucket(object.bucket()).key(object.key()), ResponseTransformer.toFile(file));
    if (Files.size(file) != size) {
      throw new IOException("%s: %d of %d bytes came".formatted(object, Files.size(file), size));
    }
  }

  /**
   * The bytes of a small object.
   *
   * @throws IOException if it cannot be read; says why and what to do
   */
  public byte[] read(String place) throws IOException {
    S3Address address = S3Address.parse(place);
    try (S3Client client = settings.open()) {
      return client
          .getObjectAsBytes(get -> get.bucket(address.bucket()).key(address.key()))
          .asByteArray();
    } catch (SdkException e) {
      throw refused(address, e);
    }
  }

  private static IOException refused(S3Address address, SdkException failure) {
    return new IOException("%s: %s".formatted(address, S3Failures.reason(failure)), failure);
  }
}
