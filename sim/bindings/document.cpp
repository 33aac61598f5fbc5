#include "document.h"

#include <nanobind/stl/shared_ptr.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "policy/network_policy.h"
#include "script/program.h"

namespace nb = nanobind;

namespace subflow::bindings {

namespace {

constexpr long long kMostExact = 1LL << 53;  // larger whole numbers are not exact in a double and become strings

std::string_view text_of(PyObject* value) {
    Py_ssize_t size = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(value, &size);
    if (text == nullptr) nb::raise_python_error();
    return {text, static_cast<std::size_t>(size)};
}

// Builds each value in place: moving variants would double the time.
class Builder {
public:
    explicit Builder(SharedObjects& beside) : beside_(beside) {}

    void build(Json& to, PyObject* value) {
        if (PyUnicode_Check(value)) {
            to.value.emplace<std::string>(text_of(value));
        } else if (PyBool_Check(value)) {
            to.value.emplace<bool>(value == Py_True);
        } else if (PyFloat_Check(value)) {
            to.value.emplace<double>(PyFloat_AS_DOUBLE(value));
        } else if (PyLong_Check(value)) {
            build_whole(to, value);
        } else if (PyDict_Check(value)) {
            build_object(to.value.emplace<Json::Object>(), value);
        } else if (PyList_Check(value) || PyTuple_Check(value)) {
            build_array(to.value.emplace<Json::Array>(), value);
        } else if (PyBytes_Check(value)) {
            const auto size = static_cast<std::size_t>(PyBytes_GET_SIZE(value));
            place(to, beside_.recordings, std::string_view(PyBytes_AS_STRING(value), size));
        } else if (nb::isinstance<NetworkPolicy>(value)) {
            place(to, beside_.policies, nb::cast<std::shared_ptr<NetworkPolicy>>(nb::handle(value)));
        } else if (nb::isinstance<ScriptProgram>(value)) {
            place(to, beside_.programs, nb::cast<std::shared_ptr<ScriptProgram>>(nb::handle(value)));
        } else if (PyIndex_Check(value)) {  // includes NumPy's integers
            build_whole(to, nb::int_(nb::handle(value)).ptr());
        } else {
            throw nb::type_error(("no value of a document: " + std::string(nb::repr(value).c_str())).c_str());
        }
    }

private:
    static void build_whole(Json& to, PyObject* value) {
        int overflow = 0;
        const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
        if (overflow == 0 && -kMostExact <= number && number <= kMostExact) {
            to.value.emplace<double>(static_cast<double>(number));
        } else {
            to.value.emplace<std::string>(nb::str(nb::handle(value)).c_str());
        }
    }
    void build_object(Json::Object& members, PyObject* dict) {
        members.reserve(static_cast<std::size_t>(PyDict_Size(dict)));
        PyObject *key = nullptr, *value = nullptr;
        for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &value) != 0;) {
            if (value == Py_None) continue;
            Json::Member& member = members.emplace_back();
            member.key = text_of(key);
            build(member.value, value);
        }
    }
    void build_array(Json::Array& items, PyObject* sequence) {
        items.resize(static_cast<std::size_t>(PySequence_Fast_GET_SIZE(sequence)));
        for (std::size_t i = 0; i < items.size(); ++i)
            if (PyObject* const item = PySequence_Fast_GET_ITEM(sequence, i); item != Py_None) build(items[i], item);
    }
    template <class T>
    static void place(Json& to, std::vector<T>& all, std::type_identity_t<T> one) {
        to.value.emplace<double>(static_cast<double>(all.size()));
        all.push_back(std::move(one));
    }

    SharedObjects& beside_;
};

}  // namespace

Document document_of(nb::handle value, std::vector<std::shared_ptr<const Policy>> policies) {
    Document made;
    made.beside.policies = std::move(policies);
    Builder(made.beside).build(made.json, value.ptr());
    return made;
}

}  // namespace subflow::bindings
