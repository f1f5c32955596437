package io.troupe.store.s3;

import io.troupe.base.files.DurableFiles;
import io.troupe.store.objects.ObjectStore;
import io.troupe.store.objects.ObjectStoreException;
import io.troupe.store.objects.ObjectStoreException.Kind;
import io.troupe.store.objects.PutCondition;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.zip.CRC32;
import software.amazon.awssdk.core.ResponseBytes;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.core.sync.ResponseTransformer;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.ChecksumAlgorithm;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;
import software.amazon.awssdk.services.s3.model.UploadPartResponse;

/**
 * A bucket of S3, below a prefix. The server verifies a CRC-32 of every body, and what it reports
 * to have stored is compared with it again. Requests are tried three times within seconds; a longer
 * outage is the caller's to wait for. Credentials that have expired are looked up again.
 *
 * <p>For one thread at a time.
 */
public final class S3Bucket implements ObjectStore {
  private static final String SLASH = "/";

  private final S3Settings settings;
  private final S3Address place;
  private Optional<S3Client> client = Optional.empty();

  /**
   * A bucket, which is not asked for anything yet.
   *
   * @param place {@code s3://bucket/prefix}; all keys are below it
   */
  public S3Bucket(S3Settings settings, String place) {
    this.settings = settings;
    this.place = S3Address.parse(place).folder();
  }

  @Override
  public Optional<Content> read(String key) throws ObjectStoreException {
    return present(
        key,
        s3 -> {
          ResponseBytes<GetObjectResponse> found =
              s3.getObjectAsBytes(get -> get.bucket(place.bucket()).key(full(key)));
          return new Content(found.asByteArray(), found.response().eTag());
        });
  }

  @Override
  public Optional<Long> size(String key) throws ObjectStoreException {
    return present(
        key,
        s3 -> s3.headObject(head -> head.bucket(place.bucket()).key(full(key))).contentLength());
  }

  @Override
  public String put(String key, byte[] content, PutCondition condition)
      throws ObjectStoreException {
    PutObjectRequest.Builder put =
        PutObjectRequest.builder()
            .bucket(place.bucket())
            .key(full(key))
            .checksumAlgorithm(ChecksumAlgorithm.CRC32);
    switch (condition) {
      case PutCondition.Always() -> {}
      case PutCondition.Absent() -> put.ifNoneMatch("*");
      case PutCondition.Tagged(String tag) -> put.ifMatch(tag);
    }
    PutObjectResponse stored =
        ask(key, s3 -> s3.putObject(put.build(), RequestBody.fromBytes(content)));
    compare(key, crc32(content), Optional.ofNullable(stored.checksumCRC32()));
    return stored.eTag();
  }

  @Override
  public String beginUpload(String key) throws ObjectStoreException {
    return ask(
        key,
        s3 ->
            s3.createMultipartUpload(
                    begin ->
                        begin
                            .bucket(place.bucket())
                            .key(full(key))
                            .checksumAlgorithm(ChecksumAlgorithm.CRC32))
                .uploadId());
  }

  @Override
  public PartTag putPart(String key, String upload, int number, byte[] content)
      throws ObjectStoreException {
    UploadPartResponse stored =
        ask(
            key,
            s3 ->
                s3.uploadPart(
                    part ->
                        part.bucket(place.bucket())
                            .key(full(key))
                            .uploadId(upload)
                            .partNumber(number)
                            .checksumAlgorithm(ChecksumAlgorithm.CRC32),
                    RequestBody.fromBytes(content)));
    String crc32 = crc32(content);
    compare(key, crc32, Optional.ofNullable(stored.checksumCRC32()));
    return new PartTag(stored.eTag(), crc32);
  }

  @Override
  public void completeUpload(String key, String upload, List<PartTag> tags)
      throws ObjectStoreException {
    List<CompletedPart> parts = new ArrayList<>();
    for (PartTag tag : tags) {
      parts.add(
          CompletedPart.builder()
              .partNumber(parts.size() + 1)
              .eTag(tag.tag())
              .checksumCRC32(tag.crc32())
              .build());
    }
    ask(
        key,
        s3 ->
            s3.completeMultipartUpload(
                complete ->
                    complete
                        .bucket(place.bucket())
                        .key(full(key))
                        .uploadId(upload)
                        .multipartUpload(all -> all.parts(parts))));
  }

  @Override
  public void abortUpload(String key, String upload) throws ObjectStoreException {
    present(
        key,
        s3 ->
            s3.abortMultipartUpload(
                abort -> abort.bucket(place.bucket()).key(full(key)).uploadId(upload)));
  }

  @Override
  public void download(String key, Path file) throws IOException {
    Files.createDirectories(DurableFiles.parent(file));
    Files.deleteIfExists(file);
    try (S3Client s3 = settings.open()) {
      s3.getObject(
          get -> get.bucket(place.bucket()).key(full(key)), ResponseTransformer.toFile(file));
    } catch (SdkException failure) {
      throw S3Failures.explain(named(key), failure);
    }
  }

  @Override
  public List<Entry> list(String prefix) throws ObjectStoreException {
    return ask(
        prefix,
        s3 ->
            s3
                .listObjectsV2Paginator(list -> list.bucket(place.bucket()).prefix(full(prefix)))
                .contents()
                .stream()
                .map(one -> new Entry(one.key().substring(place.key().length()), one.size()))
                .toList());
  }

  @Override
  public List<String> folders(String prefix) throws ObjectStoreException {
    int start = full(prefix).length();
    return ask(
        prefix,
        s3 ->
            s3
                .listObjectsV2Paginator(
                    list -> list.bucket(place.bucket()).prefix(full(prefix)).delimiter(SLASH))
                .commonPrefixes()
                .stream()
                .map(one -> one.prefix().substring(start, one.prefix().length() - 1))
                .toList());
  }

  @Override
  public void delete(String key) throws ObjectStoreException {
    ask(key, s3 -> s3.deleteObject(delete -> delete.bucket(place.bucket()).key(full(key))));
  }

  @Override
  public void close() {
    client.ifPresent(S3Client::close);
    client = Optional.empty();
  }

  @Override
  public String toString() {
    return place.toString();
  }

  private String full(String key) {
    return place.key() + key;
  }

  private String named(String key) {
    return new S3Address(place.bucket(), full(key)).toString();
  }

  private <T> T ask(String key, Function<S3Client, T> request) throws ObjectStoreException {
    try {
      if (client.isEmpty()) {
        client = Optional.of(settings.openForUploads());
      }
      return request.apply(client.get());
    } catch (SdkException failure) {
      if (S3Failures.expired(failure)) {
        close(); // The next request looks for credentials again.
      }
      throw S3Failures.explain(named(key), failure);
    }
  }

  private <T> Optional<T> present(String key, Function<S3Client, T> request)
      throws ObjectStoreException {
    try {
      return Optional.of(ask(key, request));
    } catch (ObjectStoreException failure) {
      if (failure.kind() == Kind.ABSENT) {
        return Optional.empty();
      }
      throw failure;
    }
  }

  private static String crc32(byte[] content) {
    CRC32 crc = new CRC32();
    crc.update(content);
    return Base64.getEncoder()
        .encodeToString(ByteBuffer.allocate(Integer.BYTES).putInt((int) crc.getValue()).array());
  }

  /** A server that says nothing about what it stored has at least been told the checksum. */
  private void compare(String key, String sent, Optional<String> stored)
      throws ObjectStoreException {
    if (stored.isPresent() && !stored.get().equals(sent)) {
      throw new ObjectStoreException(
          Kind.UNAVAILABLE,
          "%s: the server stored a body of CRC-32 %s, and %s was sent"
              .formatted(named(key), stored.get(), sent));
    }
  }
}
