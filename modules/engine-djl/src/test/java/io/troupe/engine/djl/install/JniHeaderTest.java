package io.troupe.engine.djl.install;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class JniHeaderTest {
  /** A source whose header by javac -h is below, without the names of parameters. */
  @SuppressWarnings("unused")
  private static final class Native_Calls {
    native long open(String name, long[] shape);

    static native int[] over_loaded(int value);

    static native int[] over_loaded(String[] values);
  }

  @Test
  void of_nativeMethods_declaresThemByTheRulesOfTheInterface() {
    String type = "Java_io_troupe_engine_djl_install_JniHeaderTest_00024Native_1Calls_";
    assertThat(JniHeader.of(Native_Calls.class))
        .isEqualTo(
            """
            #include <jni.h>
            #pragma once
            extern "C" {
            JNIEXPORT jlong JNICALL %1$sopen(JNIEnv *, jobject, jstring, jlongArray);
            JNIEXPORT jintArray JNICALL %1$sover_1loaded__I(JNIEnv *, jclass, jint);
            JNIEXPORT jintArray JNICALL %1$sover_1loaded___3Ljava_lang_String_2(JNIEnv *, jclass, jobjectArray);
            }
            """
                .formatted(type));
  }
}
