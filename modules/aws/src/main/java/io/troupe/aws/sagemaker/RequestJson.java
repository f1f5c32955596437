package io.troupe.aws.sagemaker;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.SdkField;
import software.amazon.awssdk.core.SdkPojo;
import software.amazon.awssdk.core.util.SdkAutoConstructList;
import software.amazon.awssdk.core.util.SdkAutoConstructMap;

/** A request of the SDK as the values of JSON, under the names that the service knows. */
final class RequestJson {
  private RequestJson() {}

  static Map<String, Object> of(SdkPojo request) {
    Map<String, Object> object = new LinkedHashMap<>();
    for (SdkField<?> field : request.sdkFields()) {
      Object value = field.getValueOrDefault(request);
      if (isSet(value)) {
        object.put(field.memberName(), plain(value));
      }
    }
    return object;
  }

  /** The SDK has a list of its own for one that was never set. */
  private static boolean isSet(@Nullable Object value) {
    return value != null
        && !(value instanceof SdkAutoConstructList<?>)
        && !(value instanceof SdkAutoConstructMap<?, ?>);
  }

  private static Object plain(Object value) {
    return switch (value) {
      case SdkPojo inner -> of(inner);
      case List<?> items -> items.stream().map(RequestJson::plain).toList();
      case Map<?, ?> entries -> new TreeMap<>(entries);
      default -> value;
    };
  }
}
