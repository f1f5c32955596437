package io.troupe.aws.client;

import java.util.HashMap;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.awscore.client.builder.AwsSyncClientBuilder;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.utils.SdkAutoCloseable;

/**
 * The clients of a command, each opened for its first request, and again after credentials have
 * expired. For one thread at a time.
 */
public final class OpenClients implements AutoCloseable {
  private final AwsClients clients;
  private final BiFunction<String, SdkException, AwsException> explain;
  private final Map<Class<?>, SdkAutoCloseable> open = new HashMap<>();

  /**
   * No client is open yet.
   *
   * @param explain makes a failure of a request, by its name, a sentence
   */
  public OpenClients(AwsClients clients, BiFunction<String, SdkException, AwsException> explain) {
    this.clients = clients;
    this.explain = explain;
  }

  /** The client of a type. */
  public <C extends SdkAutoCloseable, B extends AwsClientBuilder<B, C> & AwsSyncClientBuilder<B, C>>
      C client(Class<C> type, Supplier<B> builder) {
    return type.cast(open.computeIfAbsent(type, _ -> clients.open(builder.get())));
  }

  /** Makes a request by these clients. */
  public <T> T ask(String what, Supplier<T> request) throws AwsException {
    try {
      return request.get();
    } catch (SdkException failure) {
      if (AwsFailures.expired(failure)) {
        close(); // The next request looks for credentials again.
      }
      throw explain.apply(what, failure);
    }
  }

  @Override
  public void close() {
    open.values().forEach(SdkAutoCloseable::close);
    open.clear();
  }
}
