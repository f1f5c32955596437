package io.troupe.store.state;

import com.fasterxml.jackson.annotation.JacksonInject;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.InjectableValues;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.AnnotatedMember;
import com.fasterxml.jackson.databind.introspect.AnnotatedParameter;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.core.run.Event;
import io.troupe.core.run.group.Group;
import io.troupe.core.run.group.Ledger;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Fields that are written only where they say something: how often groups are used. A run whose
 * groups are used once has the bytes that it had before there were such fields.
 */
final class OptionalFields extends JacksonAnnotationIntrospector {
  private static final long serialVersionUID = 1;

  private static final String ZERO = "zero";
  private static final String NONE = "none";

  /**
   * The last component of a record.
   *
   * @param place from 0
   * @param absent names what it is where it is not written
   */
  private record LastField(String name, int place, String absent) {}

  private static final Map<Class<?>, LastField> FIELDS =
      Map.of(
          Event.StepTrained.class, new LastField("kept", 1, NONE),
          Group.Buffered.class, new LastField("uses", 1, ZERO),
          Group.Training.class, new LastField("uses", 1, ZERO),
          Ledger.class, new LastField("reused", 13, ZERO));

  private OptionalFields() {}

  static JsonMapper.Builder add(JsonMapper.Builder builder) {
    return builder
        .annotationIntrospector(new OptionalFields())
        .injectableValues(new InjectableValues.Std().addValue(ZERO, 0).addValue(NONE, List.of()));
  }

  @Override
  public JacksonInject.@Nullable Value findInjectableValue(AnnotatedMember member) {
    LastField field = FIELDS.get(member.getDeclaringClass());
    return field != null
            && member instanceof AnnotatedParameter parameter
            && parameter.getIndex() == field.place()
        ? JacksonInject.Value.forId(field.absent()).withUseInput(true)
        : super.findInjectableValue(member);
  }

  @Override
  public JsonInclude.Value findPropertyInclusion(Annotated annotated) {
    if (annotated instanceof AnnotatedMember member) {
      LastField field = FIELDS.get(member.getDeclaringClass());
      if (field != null && field.name().equals(member.getName())) {
        return JsonInclude.Value.construct(
            JsonInclude.Include.NON_DEFAULT, JsonInclude.Include.ALWAYS);
      }
    }
    return super.findPropertyInclusion(annotated);
  }
}
